use super::*;

fn requests() -> Requests {
    Requests {
        exchanges: Law::Fixed(2.2),
        gap: Law::Fixed(0.5),
        request: Law::Fixed(99.1),
        server_delay: Law::Fixed(0.25),
        response: Law::Fixed(1000.0),
        closes: Side::Client,
    }
}

#[test]
fn numbers_are_rounded_up_and_the_first_exchange_has_no_gap() {
    let mut session = Session { delays: None, ..Session::default() };
    requests().plan(0, &mut Stream::new(1, "connection"), &mut session);
    let exchange = |gap| Exchange {
        gap: Duration::from_millis(gap),
        request: Bytes::new(100),
        server_delay: Duration::from_millis(250),
        response: Bytes::new(1000),
    };
    assert_eq!(session.exchanges, [exchange(0), exchange(500), exchange(500)]);
    assert_eq!(session.closes, Side::Client);
}

#[test]
fn a_longer_plan_begins_as_a_shorter_one_does() {
    let plan = |exchanges| {
        let mut model = Requests {
            exchanges: Law::Fixed(exchanges),
            gap: Law::Exponential { mean: 1.0 },
            request: Law::Uniform(1.0, 1000.0),
            ..requests()
        };
        let mut session = Session::default();
        model.plan(0, &mut Stream::new(1, "connection"), &mut session);
        session.exchanges
    };
    assert_eq!(plan(5.0)[..3], plan(3.0));
}

#[test]
fn an_upload_is_a_request_without_a_response() {
    let mut session = Session::default();
    let mut model = Requests::upload(Law::Fixed(5000.0));
    model.plan(0, &mut Stream::new(1, "connection"), &mut session);
    let [only] = session.exchanges[..] else { panic!("one exchange") };
    assert_eq!((only.request, only.response), (Bytes::new(5000), Bytes::ZERO));
    assert_eq!(session.closes, Side::Client);
}
