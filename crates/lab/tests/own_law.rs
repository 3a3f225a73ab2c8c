//! A law in C beside the same law of ours: the same bytes.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use ackclock_lab::load_law as load;
use ackclock_sim::{Scenario, simulate};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles `source` to a library of this name, or says why the test is skipped.
fn compiled(source: &Path, name: &str) -> Option<PathBuf> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let built = Command::new("cc")
        .args(["-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I"])
        .arg(root().join("include"))
        .arg("-o")
        .args([&out, source])
        .output();
    match built {
        Err(why) => {
            println!("skipped: no C compiler ({why})");
            None
        }
        Ok(built) => {
            assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
            Some(out)
        }
    }
}

fn written(name: &str, source: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, source).unwrap();
    path
}

#[test]
fn reno_in_c_leaves_the_bytes_of_reno() {
    let source = root().join("python/ackclock/examples/laws/reno.c");
    let Some(library) = compiled(&source, "libreno.so") else { return };
    load("renoinc", &library).unwrap();
    let run = |variant: &str, n: u64| {
        // Losses, marks, short queues and silence, by the number of the scenario.
        let loss = [0.0, 0.001, 0.02][usize::try_from(n % 3).unwrap()];
        let queue = ["20 packet", "0.5 BDP", "2 BDP"][usize::try_from(n / 3 % 3).unwrap()];
        let mark = if n.is_multiple_of(2) { r#", "mark": "5 packet""# } else { "" };
        let limit = if n.is_multiple_of(2) { "50 packet" } else { queue };
        let app =
            [r#"{"kind": "bulk"}"#, r#"{"kind": "bursts", "size": "200 kB", "every": "2 s"}"#]
                [usize::try_from(n / 2 % 2).unwrap()];
        let text = format!(
            r#"{{"duration": "20 s", "seed": {n},
                "topology": {{"kind": "dumbbell",
                    "access": {{"rate": "100 Mbit/s", "delay": "1 ms"}},
                    "bottleneck": {{"rate": "8 Mbit/s", "delay": "{}0 ms", "loss": {loss},
                        "queue": {{"kind": "droptail", "limit": "{limit}"{mark}}}}}}},
                "flow": [
                    {{"name": "a", "variant": "{variant}", "app": {app}, "tcp": {{"ecn": "on"}}}},
                    {{"name": "b", "variant": "cubic", "start": "3 s"}}],
                "probe": [{{"flow": "a", "every": "change"}}]}}"#,
            1 + n % 7,
        );
        let scenario = Scenario::from_json(&text).unwrap();
        format!("{:?}", simulate(&scenario).unwrap())
    };
    // The house's word brings the recovery and the first window that are written out here.
    for n in 0..50 {
        let ours = run("reno+partialack+rfc3390", n);
        let theirs = run("renoinc+partialack+rfc3390", n);
        let theirs = theirs.replace("renoinc+partialack+rfc3390", "newreno");
        let differs = ours.bytes().zip(theirs.bytes()).position(|(one, other)| one != other);
        let near = |text: &str| {
            let at = differs.unwrap_or(0);
            text.get(at.saturating_sub(80)..at + 80).unwrap_or_default().to_owned()
        };
        assert!(ours == theirs, "scenario {n}: {} and {}", near(&ours), near(&theirs));
    }
}

#[test]
fn a_library_without_a_law_is_refused() {
    let source = written("nothing.c", "int nothing;\n");
    let Some(library) = compiled(&source, "libnothing.so") else { return };
    let said = load("nothing", &library).unwrap_err().to_string();
    assert!(
        said.ends_with("exports no function `ackclock_law_v1`; see include/ackclock_law.h"),
        "{said}"
    );
    let said = load("nothing", &source).unwrap_err().to_string();
    assert!(said.contains("nothing.c: cannot be loaded: "), "{said}");
    let said = load("nothing", Path::new("none.so")).unwrap_err().to_string();
    assert!(said.contains(": none.so: cannot be loaded: "), "{said}");
}

#[test]
fn a_table_that_lacks_something_is_refused() {
    let with = |name: &str, more: &str| {
        let source = format!(
            "#include \"ackclock_law.h\"\nstatic const ackclock_law law = {{ {more} }};\n\
             const ackclock_law *ackclock_law_v1(void) {{ return &law; }}\n"
        );
        let source = written(&format!("{name}.c"), &source);
        let library = compiled(&source, &format!("lib{name}.so"))?;
        Some(load(name, &library).unwrap_err().to_string())
    };
    let Some(said) = with("oldlaw", ".version = 9") else { return };
    assert!(said.contains("version 9 of the interface, expected 1"), "{said}");
    let said = with("smalllaw", ".version = ACKCLOCK_LAW_VERSION, .size_bytes = 8").unwrap();
    assert!(said.contains("its table has 8 bytes"), "{said}");
    let said =
        with("emptylaw", ".version = ACKCLOCK_LAW_VERSION, .size_bytes = sizeof(ackclock_law)");
    assert!(said.unwrap().contains("the callback `init` is NULL"));
}

/// The struct's name in the header.
fn in_c(name: &str) -> String {
    let words = name.chars().fold(String::new(), |mut text, char| {
        if char.is_uppercase() {
            text.push('_');
        }
        text.extend(char.to_lowercase());
        text
    });
    if name == "Callbacks" { "ackclock_law".to_owned() } else { format!("ackclock{words}") }
}

#[test]
fn the_header_has_the_same_structs() {
    let mut source =
        "#include <stddef.h>\n#include <stdio.h>\n#include \"ackclock_law.h\"\nint main(void) {\n"
            .to_owned();
    let mut ours = String::new();
    for (name, size, fields) in ackclock_foreign::layouts() {
        let c = in_c(name);
        writeln!(source, "printf(\"{c} %zu\\n\", sizeof({c}));").unwrap();
        writeln!(ours, "{c} {size}").unwrap();
        for (field, at) in fields {
            writeln!(source, "printf(\"{c}.{field} %zu\\n\", offsetof({c}, {field}));").unwrap();
            writeln!(ours, "{c}.{field} {at}").unwrap();
        }
    }
    source.push_str("return 0; }\n");
    let folder = std::env::temp_dir().join(format!("ackclock-abi-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("a.c"), source).unwrap();
    let include = root().join("include");
    let program = folder.join("a");
    let built = Command::new("cc")
        .arg("-I")
        .arg(include)
        .arg("-o")
        .args([&program, &folder.join("a.c")])
        .output();
    let Ok(built) = built else {
        println!("skipped: no C compiler");
        return;
    };
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let said = Command::new(program).output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(String::from_utf8_lossy(&said.stdout), ours);
}
