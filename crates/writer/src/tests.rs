use std::ops::Deref;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::{env, process};

use super::*;

/// A folder of a test's own, which goes with it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("ackclock-writer-{}-{name}", process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::DirBuilder::new().mode(0o700).create(&path).unwrap();
        Self(path)
    }
}

impl Deref for Scratch {
    type Target = Path;
    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn put(place: &Place, name: &str, text: &str) -> Staged {
    place.stage(name, |file| file.write_all(text.as_bytes())).unwrap()
}

#[test]
fn files_get_their_names_together() {
    let scratch = Scratch::new("together");
    fs::write(scratch.join("a"), "old").unwrap();
    fs::write(scratch.join("of another kind of run"), "old").unwrap();
    let place = Place::open(&scratch).unwrap();
    let files = vec![put(&place, "a", "new"), put(&place, "data/b", "new")];
    assert_eq!(fs::read_to_string(scratch.join("a")).unwrap(), "old");
    place.commit(files, &["of another kind of run"]).unwrap();
    assert_eq!(fs::read_to_string(scratch.join("a")).unwrap(), "new");
    assert_eq!(fs::read_to_string(scratch.join("data/b")).unwrap(), "new");
    assert_eq!(names(&scratch), ["a", "data"]);
    assert_eq!(names(&scratch.join("data")), ["b"]);
}

#[test]
fn a_failure_leaves_what_was_there() {
    let scratch = Scratch::new("failure");
    fs::write(scratch.join("a"), "old").unwrap();
    let place = Place::open(&scratch).unwrap();
    let full = |file: &mut File| {
        file.write_all(b"half")?;
        // errno(3): ENOSPC is 28 on Linux.
        Err(io::Error::from_raw_os_error(libc::ENOSPC))
    };
    let error = place.stage("a", full).unwrap_err().to_string();
    assert_eq!(error, format!("cannot write {}/a: the disk is full (ENOSPC)", scratch.display()));
    assert_eq!(write_file(&scratch.join("a"), full).unwrap_err().to_string(), error);
    assert_eq!(names(&scratch), ["a"]);
    assert_eq!(fs::read_to_string(scratch.join("a")).unwrap(), "old");
}

#[test]
fn a_place_that_is_none_is_told_before_work_begins() {
    let scratch = Scratch::new("none");
    fs::write(scratch.join("file"), "").unwrap();
    let long = "x".repeat(300);
    // NAME_MAX is 255 bytes (limits.h).
    for (path, why) in [
        ("file", "is a file, expected a folder (ENOTDIR)"),
        ("file/below", "is a file, expected a folder (ENOTDIR)"),
        (&*long, "the name is too long (ENAMETOOLONG)"),
    ] {
        let path = scratch.join(path);
        let error = Place::open(&path).unwrap_err().to_string();
        assert_eq!(error, format!("cannot write {}: {why}", path.display()));
    }
    let error = Place::open(Path::new("")).unwrap_err().to_string();
    assert_eq!(error, "cannot write : the name is empty, expected a folder");
    // There a folder cannot be made, and it says that there is none above it.
    assert!(Place::open(Path::new("/proc/none/below")).is_err());
    assert_eq!(names(&scratch), ["file"]);
    let place = Place::open(&scratch).unwrap();
    fs::create_dir(scratch.join("flows")).unwrap();
    let error = place.expect(["links", "flows"]).unwrap_err().to_string();
    assert!(error.ends_with("/flows: is a folder, expected a file (EISDIR)"), "{error}");
}

#[test]
fn a_folder_that_was_made_for_nothing_goes() {
    let scratch = Scratch::new("nothing");
    drop(Place::open(&scratch.join("a/b")).unwrap());
    assert!(names(&scratch).is_empty());
    let place = Place::open(&scratch.join("a/b")).unwrap();
    place.commit(vec![put(&place, "c/d", "x")], &[]).unwrap();
    drop(place);
    assert_eq!(names(&scratch.join("a/b/c")), ["d"]);
}

#[test]
fn two_runs_do_not_write_into_one_folder() {
    let scratch = Scratch::new("two");
    let place = Place::open(&scratch).unwrap();
    let error = Place::open(&scratch.join(".")).unwrap_err().to_string();
    assert!(error.ends_with("another run is writing into this folder"), "{error}");
    drop(place);
    let reserved = Place::reserve(&scratch).unwrap();
    let joined = Place::open(&scratch).unwrap();
    drop(reserved);
    assert!(Place::open(&scratch).is_ok(), "those that joined hold it");
    drop(joined);
    // As another process would: by a description of its own.
    let other = File::open(&*scratch).unwrap();
    other.lock().unwrap();
    assert!(Place::reserve(&scratch).is_err());
}

#[test]
fn what_killed_runs_left_goes_and_what_others_write_stays() {
    let scratch = Scratch::new("left");
    let left = scratch.join(".ackclock-1-0.part");
    fs::write(&left, "torn").unwrap();
    let written = scratch.join(".ackclock-1-1.part");
    fs::write(&written, "under way").unwrap();
    let writer = File::open(&written).unwrap();
    writer.lock().unwrap();
    symlink("/etc/hostname", scratch.join(".ackclock-1-2.part")).unwrap();
    fs::write(scratch.join(".hidden.part"), "of somebody").unwrap();
    write_file(&scratch.join("x"), |file| file.write_all(b"x")).unwrap();
    let expected = [".ackclock-1-1.part", ".ackclock-1-2.part", ".hidden.part", "x"];
    assert_eq!(names(&scratch), expected);
}

#[test]
fn an_abandoned_place_is_tidy_at_once() {
    let scratch = Scratch::new("abandoned");
    let place = Place::open(&scratch.join("out")).unwrap();
    let staged = put(&place, "a", "x");
    place.abandon();
    assert!(names(&scratch).is_empty());
    assert!(Place::open(&scratch.join("out")).is_ok(), "another may have it");
    assert!(place.commit(vec![staged], &[]).unwrap_err().to_string().ends_with("interrupted"));
    assert!(place.create("b").unwrap_err().to_string().ends_with("interrupted (EINTR)"));
}

#[test]
fn a_link_in_the_place_of_a_file_is_replaced_and_not_written_through() {
    let scratch = Scratch::new("link");
    fs::write(scratch.join("precious"), "kept").unwrap();
    fs::create_dir(scratch.join("out")).unwrap();
    symlink(scratch.join("precious"), scratch.join("out/a")).unwrap();
    let place = Place::open(&scratch.join("out")).unwrap();
    place.commit(vec![put(&place, "a", "new")], &[]).unwrap();
    assert_eq!(fs::read_to_string(scratch.join("precious")).unwrap(), "kept");
    assert_eq!(fs::read_to_string(scratch.join("out/a")).unwrap(), "new");
    assert!(!fs::symlink_metadata(scratch.join("out/a")).unwrap().is_symlink());
}

#[test]
fn nothing_but_a_file_is_opened() {
    let scratch = Scratch::new("regular");
    fs::write(scratch.join("file"), "x").unwrap();
    symlink("file", scratch.join("link")).unwrap();
    assert!(open_regular(&scratch.join("file")).is_ok());
    assert!(open_regular(&scratch.join("link")).is_err());
    assert!(open_regular(&scratch).is_err());
}

#[test]
fn reasons_are_words() {
    let of = |code| in_words(&io::Error::from_raw_os_error(code));
    assert_eq!(of(libc::EROFS), "the file system is read-only (EROFS)");
    assert_eq!(of(libc::EDQUOT), "the quota is used up (EDQUOT)");
    assert_eq!(of(libc::EFBIG), "the file is larger than is allowed (EFBIG)");
    assert_eq!(in_words(&io::ErrorKind::StorageFull.into()), "the disk is full (ENOSPC)");
    let error = WriteError::new(Path::new("a\n\u{202e}b"), "x");
    assert_eq!(error.to_string(), "cannot write a\\n\\u{202e}b: x");
}
