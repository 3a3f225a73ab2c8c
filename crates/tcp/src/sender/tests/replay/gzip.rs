//! Reads gzip files (RFC 1952, RFC 1951): the traces are compressed, and nothing else here needs a decompressor.

/// The bits of a stream, the least significant first.
struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
    held: u32,
    count: u32,
}

impl Bits<'_> {
    fn take(&mut self, n: u32) -> u32 {
        while self.count < n {
            self.held |= u32::from(self.bytes[self.at]) << self.count;
            self.at += 1;
            self.count += 8;
        }
        let bits = self.held & ((1 << n) - 1);
        self.held >>= n;
        self.count -= n;
        bits
    }

    fn align(&mut self) {
        (self.held, self.count) = (0, 0);
    }
}

/// A Huffman code: how many codes there are of each length, and the symbols in the order of their codes.
struct Code {
    counts: [u16; 16],
    symbols: Vec<u16>,
}

impl Code {
    fn new(lengths: &[u8]) -> Self {
        let mut counts = [0; 16];
        for length in lengths {
            counts[usize::from(*length)] += 1;
        }
        counts[0] = 0;
        let mut symbols: Vec<u16> = (0..).take(lengths.len()).collect();
        symbols.retain(|symbol| lengths[usize::from(*symbol)] > 0);
        symbols.sort_by_key(|symbol| lengths[usize::from(*symbol)]);
        Self { counts, symbols }
    }

    fn read(&self, bits: &mut Bits<'_>) -> u16 {
        let (mut code, mut first, mut index) = (0_u32, 0_u32, 0_u32);
        for count in &self.counts[1..] {
            code |= bits.take(1);
            let count = u32::from(*count);
            if code < first + count {
                return self.symbols[(index + code - first) as usize];
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        panic!("not a code")
    }
}

fn byte(number: impl TryInto<u8>) -> u8 {
    number.try_into().unwrap_or_else(|_| panic!("not a byte"))
}

/// The order in which a block gives the lengths of the code for its lengths (RFC 1951 §3.2.7).
const ORDER: [usize; 19] = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

fn codes(bits: &mut Bits<'_>) -> (Code, Code) {
    let (literals, distances) = (bits.take(5) as usize + 257, bits.take(5) as usize + 1);
    let given = bits.take(4) as usize + 4;
    let mut lengths = [0; 19];
    for place in &ORDER[..given] {
        lengths[*place] = byte(bits.take(3));
    }
    let code = Code::new(&lengths);
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < literals + distances {
        let (length, times) = match code.read(bits) {
            16 => (*lengths.last().unwrap(), 3 + bits.take(2)),
            17 => (0, 3 + bits.take(3)),
            18 => (0, 11 + bits.take(7)),
            length => (byte(length), 1),
        };
        lengths.extend((0..times).map(|_| length));
    }
    (Code::new(&lengths[..literals]), Code::new(&lengths[literals..]))
}

fn fixed_codes() -> (Code, Code) {
    let lengths: Vec<u8> = (0..288)
        .map(|symbol| match symbol {
            144..256 => 9,
            256..280 => 7,
            _ => 8,
        })
        .collect();
    (Code::new(&lengths), Code::new(&[5; 30]))
}

/// The value of a symbol from `first` on: `step` symbols for each further bit (RFC 1951 §3.2.5).
fn extended(bits: &mut Bits<'_>, symbol: u32, group: u32, base: u32) -> usize {
    if symbol < 2 * group {
        return (base + symbol) as usize;
    }
    let extra = symbol / group - 1;
    let value = base + ((group + symbol % group) << extra) + bits.take(extra);
    value as usize
}

fn block(bits: &mut Bits<'_>, (literals, distance): &(Code, Code), out: &mut Vec<u8>) {
    loop {
        match literals.read(bits) {
            256 => return,
            literal @ 0..256 => out.push(byte(literal)),
            285 => copy(bits, 258, distance, out),
            symbol => {
                let length = extended(bits, u32::from(symbol) - 257, 4, 3);
                copy(bits, length, distance, out);
            }
        }
    }
}

fn copy(bits: &mut Bits<'_>, length: usize, distance: &Code, out: &mut Vec<u8>) {
    let symbol = u32::from(distance.read(bits));
    let back = extended(bits, symbol, 2, 1);
    for _ in 0..length {
        out.push(out[out.len() - back]);
    }
}

/// The contents of the file `bytes`.
pub fn unpack(bytes: &[u8]) -> Vec<u8> {
    assert_eq!(bytes[..3], [0x1f, 0x8b, 8], "not a gzip file");
    let flags = bytes[3];
    let mut at = 10;
    assert_eq!(flags & 0b0110, 0, "neither extra fields nor header checks are expected");
    for field in [8, 16] {
        if flags & field != 0 {
            at += bytes[at..].iter().position(|byte| *byte == 0).unwrap() + 1;
        }
    }
    let mut bits = Bits { bytes, at, held: 0, count: 0 };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1) == 1;
        match bits.take(2) {
            0 => {
                bits.align();
                let at = bits.at;
                let length = usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
                out.extend_from_slice(&bytes[at + 4..][..length]);
                bits.at += 4 + length;
            }
            1 => block(&mut bits, &fixed_codes(), &mut out),
            _ => {
                let codes = codes(&mut bits);
                block(&mut bits, &codes, &mut out);
            }
        }
        if last {
            return out;
        }
    }
}
