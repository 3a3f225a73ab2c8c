//! Runs a scenario given as JSON on real packets, and prints its rows.

use std::process::ExitCode;

fn main() -> ExitCode {
    let path = std::env::args().nth(1).expect("a file with a scenario in JSON");
    let text = std::fs::read_to_string(path).expect("the file can be read");
    let scenario = serde_json::from_str(&text).expect("a scenario");
    match ackclock_live::run(&scenario, &ackclock_live::Options::default(), || false) {
        Ok(live) => {
            for row in live.run.flows {
                println!("{row:?}");
            }
            println!("{}", live.report.to_json());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
