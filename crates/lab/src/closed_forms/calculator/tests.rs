use super::*;

fn object(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

const PATH: &str =
    r#""mu_pps": 170, "lambda_pps": 10, "tau1_s": 0.05, "tau2_s": 0.05, "buffer_packets": 5"#;

#[test]
fn a_prediction_has_the_fields_of_the_model() {
    let answer = object(&altman_predict(&format!("{{{PATH}}}")).unwrap());
    assert!(answer["throughput_pps"].as_f64().unwrap() > 10.0);
    assert!(answer["rtt_s"].as_f64().unwrap() > 0.2);
    assert_eq!(answer["slow_starts_per_cycle"], 2);
    assert!(answer["validity"]["ok"].is_boolean() && answer["validity"]["reasons"].is_array());
    assert_eq!(answer.get("throughput_with_timeout_pps"), None);
}

#[test]
fn a_list_of_questions_gets_a_list_of_answers() {
    let one = altman_predict(&format!("{{{PATH}}}")).unwrap();
    let many = altman_predict(&format!("[{{{PATH}}}, {{{PATH}, \"mode\": \"one\"}}]")).unwrap();
    let many = object(&many);
    assert_eq!(many[0], object(&one));
    assert_eq!(many[1]["slow_starts_per_cycle"], 1);
    assert_eq!(altman_predict("[]").unwrap(), "[]");
}

#[test]
fn a_whole_delay_is_split_evenly() {
    let parts = altman_predict(&format!("{{{PATH}}}")).unwrap();
    let whole = PATH.replace(r#""tau1_s": 0.05, "tau2_s": 0.05"#, r#""tau_s": 0.2"#);
    assert_eq!(altman_predict(&format!("{{{whole}}}")).unwrap(), parts);
}

#[test]
fn a_timeout_costs_throughput() {
    let answer = object(&altman_predict(&format!("{{{PATH}, \"rto_s\": 1}}")).unwrap());
    assert!(answer["throughput_with_timeout_pps"].as_f64() < answer["throughput_pps"].as_f64());
}

#[test]
fn bad_questions_get_one_line() {
    let message = |text: &str| altman_predict(text).unwrap_err().to_string();
    let with = |old: &str, new: &str| message(&format!("{{{}}}", PATH.replace(old, new)));
    assert_eq!(
        with("\"lambda_pps\": 10", "\"lambda_pps\": 170"),
        "lambda_pps: 170, expected packets per second, at least 0 and below mu_pps (170)"
    );
    assert_eq!(
        with("\"mu_pps\": 170", "\"mu_pps\": \"fast\""),
        "mu_pps: found the text \"fast\", expected a number"
    );
    assert_eq!(with("\"mu_pps\": 170, ", ""), "mu_pps: missing, expected a number");
    assert_eq!(with("\"tau2_s\": 0.05, ", ""), "tau2_s: missing, expected a number");
    assert_eq!(
        with("tau2_s", "tau_s"),
        "tau_s: stands beside `tau1_s` or `tau2_s`, expected one or the other"
    );
    assert_eq!(
        with("\"tau2_s\": 0.05", "\"tau2_s\": \"50 ms\""),
        "tau2_s: found the text \"50 ms\"; write `tau2_s = 0.05`"
    );
    assert!(with("lambda_pps", "lamda_pps").contains("did you mean `lambda_pps`? Known: "));
    assert_eq!(
        message(&format!("[{{{PATH}}}, {{{}}}]", PATH.replace("170", "-1"))).split(',').next(),
        Some("[1].mu_pps: -1")
    );
    assert_eq!(
        message(&format!("{{{PATH}, \"mode\": \"three\"}}")),
        "mode: unknown word `three`, expected one of `auto`, `one`, `two`"
    );
    assert_eq!(message("nonsense"), "JSON syntax: expected ident, column 2");
}

#[test]
fn what_was_predicted_is_inferred() {
    let prediction = object(&altman_predict(&format!("{{{PATH}}}")).unwrap());
    let question = format!(
        r#"{{"parameter": "lambda", "mu_pps": 170, "tau_s": 0.2, "buffer_packets": 5,
            "throughput_pps": {}, "throughput_ci_pps": 1}}"#,
        prediction["throughput_pps"]
    );
    let answer = object(&altman_infer(&question).unwrap());
    assert_eq!(answer["status"], "estimate", "{answer}");
    assert!((answer["estimate"].as_f64().unwrap() - 10.0).abs() < 0.01);
    assert!(answer["low"].as_f64() < Some(10.0) && answer["high"].as_f64() > Some(10.0));
    assert!(answer["validity"]["ok"].is_boolean());
}

#[test]
fn what_cannot_be_inferred_says_so() {
    let question = r#"{"parameter": "lambda", "mu_pps": 170, "tau_s": 0.2, "buffer_packets": 5,
        "throughput_pps": 1000}"#;
    let answer = object(&altman_infer(question).unwrap());
    assert_eq!(answer["status"], "not identifiable");
    assert_eq!(answer["cause"], "no solution");
    assert_eq!(answer["estimate"], Value::Null);
}

#[test]
fn a_measurement_that_is_none_is_told() {
    let message = |more: &str| {
        let text = format!(
            r#"{{"parameter": "lambda", "mu_pps": 170, "tau_s": 0.2, "buffer_packets": 5{more}}}"#
        );
        altman_infer(&text).unwrap_err().to_string()
    };
    assert_eq!(
        message(""),
        "measurements: missing, expected a throughput, a round-trip time, or both"
    );
    assert_eq!(message(r#", "rtt_ci_s": 1"#), "rtt_ci_s: stands alone, expected `rtt_s` beside it");
    assert!(message(r#", "rtt_s": 1, "rtt_ci_s": 0"#).starts_with("rtt_ci_s: 0, expected "));
    assert_eq!(message(r#", "rtt_s": -1"#), "rtt_s: -1, expected a finite number above 0");
}

#[test]
fn responses_come_together() {
    let answer = object(&response(r#"{"loss_rate": 0.01, "rtt_s": 0.1}"#).unwrap());
    let mathis = answer["mathis_pps"].as_f64().unwrap();
    assert!((mathis - (1.5_f64 / 0.01).sqrt() / 0.1).abs() < 1e-9);
    assert!(answer.as_object().unwrap().values().all(|value| value.as_f64().unwrap() > 0.0));
    assert_eq!(
        response(r#"{"loss_rate": 1, "rtt_s": 0.1}"#).unwrap_err().to_string(),
        "loss_rate: 1, expected a number in (0, 1)"
    );
    assert_eq!(
        response(r#"{"loss_rate": 0.1, "rtt_s": 0.1, "cubic_beta": 2}"#).unwrap_err().to_string(),
        "cubic_beta: 2, expected a number in (0, 1)"
    );
}
