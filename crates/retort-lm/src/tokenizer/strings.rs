//! Many short byte strings with numbers, in few allocations: a vocabulary has up to a quarter of a million.

/// Byte strings by id, one after the other in one buffer.
#[derive(Default)]
pub(super) struct Strings {
    bytes: Vec<u8>,
    /// Where each string ends; it begins where the one before ends.
    ends: Vec<u32>,
}

impl Strings {
    pub(super) fn push(&mut self, string: &[u8]) {
        self.bytes.extend_from_slice(string);
        // Vocabularies are megabytes; one of 4 GiB would not have been read.
        self.ends.push(u32::try_from(self.bytes.len()).unwrap_or(u32::MAX));
    }

    /// The string of this id; empty for an id that there is not.
    pub(super) fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let start = if id == 0 { 0 } else { self.ends.get(id - 1).copied().unwrap_or(0) as usize };
        let end = self.ends.get(id).copied().unwrap_or(0) as usize;
        self.bytes.get(start..end).unwrap_or_default()
    }
}

/// Ids by string: a hash table with open addressing over some of the [`Strings`], built in one pass.
pub(super) struct Index {
    /// Id + 1 in each slot, or 0; the length is a power of two and at most half of the slots are taken.
    slots: Vec<u32>,
}

impl Index {
    pub(super) fn new(strings: &Strings, ids: &[u32]) -> Self {
        let mut index = Self { slots: vec![0; (ids.len() * 2).max(2).next_power_of_two()] };
        for &id in ids {
            let slot = index.slot(strings, strings.get(id));
            // Of two tokens that are spelled alike the first is meant.
            if index.slots[slot] == 0 {
                index.slots[slot] = id + 1;
            }
        }
        index
    }

    pub(super) fn find(&self, strings: &Strings, string: &[u8]) -> Option<u32> {
        self.slots[self.slot(strings, string)].checked_sub(1)
    }

    /// The slot in which the string lies, or the free one in which it would.
    fn slot(&self, strings: &Strings, string: &[u8]) -> usize {
        let mask = self.slots.len() - 1;
        // FNV-1a (Fowler, Noll and Vo 1991), with its high half folded in.
        let hash = string.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits are wanted")]
        let mut slot = (hash ^ (hash >> 32)) as usize & mask;
        while self.slots[slot] != 0 && strings.get(self.slots[slot] - 1) != string {
            slot = (slot + 1) & mask;
        }
        slot
    }
}

/// Spellings that are looked for in running text.
pub(super) struct Spellings {
    index: Index,
    /// Their lengths, each once, the longest first.
    lengths: Vec<usize>,
    /// Which bytes begin one.
    begins: [bool; 256],
}

impl Spellings {
    /// Of these tokens; empty spellings are left out.
    pub(super) fn new(strings: &Strings, ids: &[u32]) -> Self {
        let mut begins = [false; 256];
        let mut lengths = Vec::new();
        for string in ids.iter().map(|&id| strings.get(id)) {
            if let Some(&first) = string.first() {
                begins[usize::from(first)] = true;
                lengths.push(string.len());
            }
        }
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        lengths.dedup();
        Self { index: Index::new(strings, ids), lengths, begins }
    }

    /// The earliest spelling in the text, and the longest of those that begin there: what stands before it, its
    /// id, and what stands after it.
    pub(super) fn split<'a>(&self, strings: &Strings, text: &'a str) -> Option<(&'a str, u32, &'a str)> {
        let bytes = text.as_bytes();
        let starts = (0..bytes.len()).filter(|&at| self.begins[usize::from(bytes[at])]);
        for at in starts {
            for &length in &self.lengths {
                let Some(string) = bytes.get(at..at + length) else { continue };
                if let Some(id) = self.index.find(strings, string) {
                    // Spellings are whole characters, so these are boundaries of characters.
                    return Some((text.get(..at)?, id, text.get(at + length..)?));
                }
            }
        }
        None
    }
}
