//! The laws that the kernel can be given, and the names that they get there.

use ackclock_tcp::Variant;

use crate::{KernelError, Parts};

include!(concat!(env!("OUT_DIR"), "/laws.rs"));

/// The longest name of a congestion control in Linux (`TCP_CA_NAME_MAX` less its zero).
const LONGEST_NAME: usize = 15;

/// The largest Kd: a product of the window and of it has to stay in 64 bits (`bpf/ccp.bpf.c`).
const MOST_KD_US: u32 = 1_000_000;

/// A law, in an object of its own.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    /// The name of the object.
    pub name: &'static str,
    /// One line about it.
    pub title: &'static str,
    /// The words of our senders whose law it is; none of a recorder.
    pub words: &'static [&'static str],
    /// The kernel's own laws that it records.
    pub wraps: &'static [&'static str],
    /// True if it takes idle rules and an answer to lost SYNs beside its growth.
    pub takes_parts: bool,
    /// The object: an ELF file. Empty if the build could not compile it.
    pub object: &'static [u8],
}

impl Law {
    /// The FNV-1a hash of the object (64 bits), which tells one build's from another's.
    pub fn hash(&self) -> String {
        crate::base::programs::hash(self.object)
    }
}

/// The hash of the sources of the laws as parts of a kernel, likewise.
pub(crate) fn hash_of_sources() -> String {
    let text: String = SOURCES.iter().map(|(_, text)| *text).collect();
    crate::base::programs::hash(text.as_bytes())
}

/// A law with the numbers in the parentheses of its word.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The law.
    pub law: &'static Law,
    /// The word, as a sender's name has it.
    pub word: String,
    /// The object's `settings`, if the word has any: Kp in thousandths, Kd in microseconds, and 1 for each of the
    /// readings `literal` and `buffer`.
    pub settings: Option<[u32; 4]>,
    /// The parts beside the law, where it takes some.
    pub parts: Option<Parts>,
}

impl Asked {
    /// The name in the kernel of a law that is loaded to stay.
    ///
    /// # Errors
    /// The name would be too long.
    pub fn kernel_name(&self) -> Result<String, KernelError> {
        // Two letters less, with which CUBIC's name has room.
        let word = self.word.replace("(linux)", "").replace("newcwv", "ncwv");
        let letters = word.trim_end_matches(')').chars();
        let plain = letters.map(|letter| if letter.is_alphanumeric() { letter } else { '_' });
        let name = format!("ack_{}", plain.collect::<String>());
        if name.len() > LONGEST_NAME {
            return Err(KernelError::TooLong {
                word: self.word.clone(),
                name,
                longest: LONGEST_NAME,
            });
        }
        Ok(name)
    }

    /// The `n`th name in the kernel of a law that is loaded for one run.
    pub(crate) fn private_name(&self, n: u32) -> String {
        let number = format!("{:03x}", n & 0xfff);
        let room = LONGEST_NAME - "ack_".len() - number.len();
        format!("ack_{}{number}", &self.law.name[..self.law.name.len().min(room)])
    }
}

/// Every law.
pub const fn laws() -> &'static [Law] {
    LAWS
}

/// The reason why this build has no objects; empty if it has.
pub const fn unbuilt() -> &'static str {
    MISSING
}

/// The law that `word` names, such as a sender's word with its parentheses and its parts, or a kernel's law to record.
///
/// # Errors
/// There is none, or not with these numbers or parts.
pub fn find(word: &str) -> Result<Asked, KernelError> {
    let mut words = word.split('+');
    let first = words.next().unwrap_or_default();
    let (name, argument) = first.split_once('(').unwrap_or((first, ""));
    let unknown = || {
        let names = LAWS.iter().flat_map(|law| law.words.iter().chain(law.wraps));
        let known = names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        KernelError::Unknown { name: word.to_owned(), known }
    };
    let has_parts = word != first;
    // A law's form under the profile of that name, which is the one in the kernel.
    let ours = format!("{name}(linux)");
    let named = |law: &&Law| {
        law.words.contains(&name)
            || law.words.contains(&first)
            || (has_parts && law.words.contains(&ours.as_str()))
    };
    let wrapping = |law: &&Law| !has_parts && law.wraps.contains(&name);
    let law = LAWS.iter().find(named).or_else(|| LAWS.iter().find(wrapping)).ok_or_else(unknown)?;
    if first.contains('(') {
        if !first.ends_with(')') {
            return Err(KernelError::Word(format!("`{word}`: expected `)` at its end")));
        }
        // A word with numbers has to be one of a sender; a word alone stands for numbers that a sender's name has to give.
        first.parse::<Variant>().map_err(|error| KernelError::Word(error.to_string()))?;
    }
    let argument = argument.strip_suffix(')').unwrap_or(argument);
    let argument = if argument == "linux" { "" } else { argument };
    // The first word of a law is that without a derivative.
    let derivative = law.words.len() > 1 && law.words.first() != Some(&name);
    let settings = if law.words.len() > 1 {
        let why = || {
            let kd = format!("expected Kd from 1 to {MOST_KD_US} microseconds in the kernel");
            format!("`{word}`: {kd}, and the capacity by pairs")
        };
        Some(settings(argument, derivative).ok_or_else(|| KernelError::Word(why()))?)
    } else if argument.is_empty() {
        None
    } else {
        return Err(unknown());
    };
    let parts = Parts::read(words).filter(|_| law.takes_parts || !has_parts);
    let parts = parts.ok_or_else(|| KernelError::Parts { name: word.to_owned() })?;
    Ok(Asked { law, word: word.to_owned(), settings, parts: law.takes_parts.then_some(parts) })
}

/// The numbers of `Kp,Kd,literal,buffer`.
fn settings(argument: &str, derivative: bool) -> Option<[u32; 4]> {
    let mut settings = [1000, if derivative { 2000 } else { 0 }, 0, 0];
    if argument.is_empty() {
        return Some(settings);
    }
    let mut words = argument.split(',');
    let (units, decimals) = words.next()?.split_once('.').unwrap_or((argument, ""));
    let units = units.split(',').next()?.parse::<u32>().ok()?;
    let thousandths = format!("{decimals:0<3}").parse::<u32>().ok()?;
    settings[0] = units.checked_mul(1000)?.checked_add(thousandths)?;
    if derivative {
        settings[1] = words.next()?.parse().ok().filter(|us| (1..=MOST_KD_US).contains(us))?;
    }
    for word in words {
        match word {
            "literal" => settings[2] = 1,
            "buffer" => settings[3] = 1,
            "incremental" | "path" | "pairs" => {}
            _ => return None,
        }
    }
    Some(settings)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_a_word_become_settings() {
        let settings = |word: &str| find(word).unwrap().settings;
        assert_eq!(settings("ccp"), Some([1000, 0, 0, 0]));
        assert_eq!(settings("ccp(0.5)"), Some([500, 0, 0, 0]));
        assert_eq!(settings("ccpd(1,4000)"), Some([1000, 4000, 0, 0]));
        assert_eq!(settings("ccpd(1.25,2000,literal,buffer)"), Some([1250, 2000, 1, 1]));
        assert_eq!(settings("tahoe"), None);
        assert_eq!(settings("highspeed(linux)"), None);
        assert!(find("tahoe(bytes)").is_err() && find("ccpd(1)").is_err());
        assert!(find("tahoe+cwv").is_err() && find("reno+prr").is_err());
        assert!(find("ccp(1,delivery)").is_err() && find("ccp(1,pairs)").is_ok());
        assert!(find("ccpd(1,0)").is_err() && find("bbr").is_err() && find("bbr1").is_ok());
    }

    #[test]
    fn a_law_with_parts_is_ours_and_not_the_kernels() {
        let object = |word: &str| find(word).unwrap().law.name;
        assert_eq!(object("reno"), "reno");
        assert_eq!(object("reno(linux)"), "reno_linux");
        assert_eq!(object("reno+cwv"), "reno_linux");
        assert_eq!(object("cubic(linux)+newcwv+tsl(3,16)"), "cubic_linux");
        assert_eq!(find("cubic+newcwv").unwrap().parts.unwrap().idle, 4);
        assert_eq!(find("tahoe").unwrap().parts, None);
    }

    #[test]
    fn words_of_no_sender_are_refused_and_say_why() {
        let why = |word: &str| find(word).unwrap_err().to_string();
        for word in ["ccp(", "ccp(1", "tahoe("] {
            assert_eq!(why(word), format!("`{word}`: expected `)` at its end"));
        }
        for (word, number) in [
            ("ccp(0)", "0"),
            ("ccp(abc)", "abc"),
            ("ccp()", ""),
            ("tahoe()", ""),
            ("ccp(1))", "1)"),
            ("ccp(0.1234)", "0.1234"),
        ] {
            assert!(why(word).contains(&format!("does not take `{number}`")), "{}", why(word));
        }
        for word in ["ccpd(1,0)", "ccpd(1,1000001)"] {
            assert_eq!(
                why(word),
                format!(
                    "`{word}`: expected Kd from 1 to 1000000 microseconds in the kernel, and the capacity by \
                     pairs"
                )
            );
        }
    }

    #[test]
    fn names_in_the_kernel_are_short() {
        let name = |word: &str| find(word).unwrap().kernel_name();
        assert_eq!(name("tahoe").unwrap(), "ack_tahoe");
        assert_eq!(name("ccpd(1,4000)").unwrap(), "ack_ccpd_1_4000");
        // Fifteen letters are the most.
        assert_eq!(name("cubic+newcwv").unwrap(), "ack_cubic_ncwv");
        // `ack_ccpd_1_9999` has 15 letters.
        assert!(name("ccpd(1,9999)").is_ok() && name("ccpd(1.25,2000,literal)").is_err());
        assert_eq!(
            name("ccpd(1,10000)").unwrap_err().to_string(),
            "`ccpd(1,10000)` would be `ack_ccpd_1_10000`, and names in the kernel have at most 15 letters; a run with such \
             a sender loads it under a short name"
        );
    }
}
