use super::*;

const LONG: Duration = Duration::from_mins(1);

#[test]
fn a_job_gives_its_result_and_its_progress() {
    let mut job = Background::start(|ticket| {
        ticket.report(3);
        ticket.report(2);
        Ok(7)
    })
    .unwrap();
    assert_eq!(job.wait(LONG), Some(Ok(7)));
    assert_eq!(job.finished(), 3);
}

#[test]
fn a_job_that_takes_longer_is_waited_for_in_steps() {
    let (go, wait) = channel::<()>();
    let mut job = Background::start(move |_| {
        wait.recv().unwrap();
        Ok(())
    })
    .unwrap();
    assert_eq!(job.wait(Duration::from_millis(1)), None);
    go.send(()).unwrap();
    assert_eq!(job.wait(LONG), Some(Ok(())));
}

#[test]
fn a_job_that_panics_is_at_fault() {
    let mut job = Background::<()>::start(|_| panic!("a slip")).unwrap();
    let error = job.wait(LONG).unwrap().unwrap_err().to_string();
    assert!(error.starts_with("internal error: a slip; please report it"), "{error}");
}

#[test]
fn a_job_that_nobody_waits_for_is_told() {
    let (tell, told) = channel();
    let job = Background::start(move |ticket| {
        while !ticket.is_cancelled() {
            thread::yield_now();
        }
        tell.send(()).unwrap();
        Ok(())
    });
    drop(job);
    told.recv_timeout(LONG).unwrap();
}
