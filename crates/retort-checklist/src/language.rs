//! Which language a response is written in.

use whatlang::{Detector, Lang, Script};

use crate::Unit;
use crate::finding::Finding;
use crate::segment::Segmented;

/// The fewest letters on which the detector's word is taken, where the script alone does not decide.
const MIN_LETTERS: usize = 20;
/// The same where they are Chinese characters with or without kana.
const MIN_HAN_LETTERS: usize = 5;
/// From how many letters on a guess that the detector itself calls unreliable is taken, if it is the language asked for.
const MANY_LETTERS: usize = 100;
/// The most bytes that the detector reads: more would not change its mind.
const MAX_BYTES: usize = 20_000;

/// A language that can be told.
pub(crate) struct Tongue {
    code: &'static str,
    name: &'static str,
    lang: Lang,
}

const fn tongue(code: &'static str, name: &'static str, lang: Lang) -> Tongue {
    Tongue { code, name, lang }
}

const TONGUES: &[Tongue] = &[
    tongue("af", "Afrikaans", Lang::Afr),
    tongue("am", "Amharic", Lang::Amh),
    tongue("ar", "Arabic", Lang::Ara),
    tongue("az", "Azerbaijani", Lang::Aze),
    tongue("be", "Belarusian", Lang::Bel),
    tongue("bg", "Bulgarian", Lang::Bul),
    tongue("bn", "Bengali", Lang::Ben),
    tongue("ca", "Catalan", Lang::Cat),
    tongue("cs", "Czech", Lang::Ces),
    tongue("cy", "Welsh", Lang::Cym),
    tongue("da", "Danish", Lang::Dan),
    tongue("de", "German", Lang::Deu),
    tongue("el", "Greek", Lang::Ell),
    tongue("en", "English", Lang::Eng),
    tongue("eo", "Esperanto", Lang::Epo),
    tongue("es", "Spanish", Lang::Spa),
    tongue("et", "Estonian", Lang::Est),
    tongue("fa", "Persian", Lang::Pes),
    tongue("fi", "Finnish", Lang::Fin),
    tongue("fr", "French", Lang::Fra),
    tongue("gu", "Gujarati", Lang::Guj),
    tongue("he", "Hebrew", Lang::Heb),
    tongue("hi", "Hindi", Lang::Hin),
    tongue("hr", "Croatian", Lang::Hrv),
    tongue("hu", "Hungarian", Lang::Hun),
    tongue("hy", "Armenian", Lang::Hye),
    tongue("id", "Indonesian", Lang::Ind),
    tongue("it", "Italian", Lang::Ita),
    tongue("ja", "Japanese", Lang::Jpn),
    tongue("jv", "Javanese", Lang::Jav),
    tongue("ka", "Georgian", Lang::Kat),
    tongue("km", "Khmer", Lang::Khm),
    tongue("kn", "Kannada", Lang::Kan),
    tongue("ko", "Korean", Lang::Kor),
    tongue("la", "Latin", Lang::Lat),
    tongue("lt", "Lithuanian", Lang::Lit),
    tongue("lv", "Latvian", Lang::Lav),
    tongue("mk", "Macedonian", Lang::Mkd),
    tongue("ml", "Malayalam", Lang::Mal),
    tongue("mr", "Marathi", Lang::Mar),
    tongue("my", "Burmese", Lang::Mya),
    tongue("nb", "Norwegian", Lang::Nob),
    tongue("ne", "Nepali", Lang::Nep),
    tongue("nl", "Dutch", Lang::Nld),
    tongue("no", "Norwegian", Lang::Nob),
    tongue("or", "Odia", Lang::Ori),
    tongue("pa", "Punjabi", Lang::Pan),
    tongue("pl", "Polish", Lang::Pol),
    tongue("pt", "Portuguese", Lang::Por),
    tongue("ro", "Romanian", Lang::Ron),
    tongue("ru", "Russian", Lang::Rus),
    tongue("si", "Sinhala", Lang::Sin),
    tongue("sk", "Slovak", Lang::Slk),
    tongue("sl", "Slovenian", Lang::Slv),
    tongue("sn", "Shona", Lang::Sna),
    tongue("sr", "Serbian", Lang::Srp),
    tongue("sv", "Swedish", Lang::Swe),
    tongue("ta", "Tamil", Lang::Tam),
    tongue("te", "Telugu", Lang::Tel),
    tongue("th", "Thai", Lang::Tha),
    tongue("tk", "Turkmen", Lang::Tuk),
    tongue("tl", "Tagalog", Lang::Tgl),
    tongue("tr", "Turkish", Lang::Tur),
    tongue("uk", "Ukrainian", Lang::Ukr),
    tongue("ur", "Urdu", Lang::Urd),
    tongue("uz", "Uzbek", Lang::Uzb),
    tongue("vi", "Vietnamese", Lang::Vie),
    tongue("yi", "Yiddish", Lang::Yid),
    tongue("zh", "Chinese", Lang::Cmn),
    tongue("zu", "Zulu", Lang::Zul),
];

/// The languages that can be verified: ISO 639-1 codes and English names.
pub fn languages() -> impl Iterator<Item = (&'static str, &'static str)> {
    TONGUES.iter().map(|tongue| (tongue.code, tongue.name))
}

impl Tongue {
    pub(crate) fn from_code(code: &str) -> Option<&'static Self> {
        TONGUES.iter().find(|tongue| tongue.code == code)
    }

    fn named(lang: Lang) -> &'static str {
        TONGUES.iter().find(|tongue| tongue.lang == lang).map_or("another language", |tongue| tongue.name)
    }

    /// Whether it can be written so. Japanese has Chinese characters too.
    fn is_written_in(&self, script: Script) -> bool {
        let own = match self.lang {
            Lang::Jpn => matches!(script, Script::Hiragana | Script::Katakana | Script::Mandarin),
            Lang::Srp | Lang::Aze | Lang::Uzb | Lang::Tuk => {
                matches!(script, Script::Latin | Script::Cyrillic)
            }
            _ => false,
        };
        own || script.langs().contains(&self.lang)
    }
}

/// The words of a response without code and links.
fn plain_words(text: &Segmented<'_>) -> String {
    let links = text.find(Unit::Link);
    let mut words = String::new();
    let mut next_link = 0;
    for range in text.prose() {
        let mut at = range.start;
        while at < range.end {
            while links.get(next_link).is_some_and(|link| link.end <= at) {
                next_link += 1;
            }
            let stop = links.get(next_link).map_or(range.end, |link| link.start.clamp(at, range.end));
            words.push_str(text.slice(&(at..stop)));
            words.push(' ');
            at = links.get(next_link).map_or(range.end, |link| link.end.max(stop).min(range.end)).max(stop);
            if stop == range.end {
                break;
            }
        }
        if words.len() > MAX_BYTES {
            let mut end = MAX_BYTES;
            while !words.is_char_boundary(end) {
                end -= 1;
            }
            words.truncate(end);
            break;
        }
    }
    words
}

pub(crate) fn verify(text: &Segmented<'_>, asked: &Tongue) -> Finding {
    let words = plain_words(text);
    let letters = words.chars().filter(|c| c.is_alphabetic()).count();
    let unknown = |why: &str| {
        Finding::not_applicable(format!("{why} to tell whether it is {}, which was asked for", asked.name))
    };
    let Some(found) = Detector::new().detect(&words).filter(|_| letters > 0) else {
        return unknown("there are too few letters");
    };
    if !asked.is_written_in(found.script()) {
        return Finding::not_met(format!(
            "the text is in {} script, in which {} is not written",
            script_name(found.script()),
            asked.name
        ));
    }
    // Many scripts serve one language only, and then the script decides.
    let decides = found.script().langs().len() == 1 && found.script() != Script::Mandarin;
    // In Chinese characters a letter says more.
    let min_letters = if found.script() == Script::Mandarin { MIN_HAN_LETTERS } else { MIN_LETTERS };
    let is_reliable = found.is_reliable() && letters >= min_letters;
    let is_asked = found.lang() == asked.lang;
    if is_asked && (decides || is_reliable || letters >= MANY_LETTERS) {
        return Finding::met(format!("the text is in {}", asked.name));
    }
    // A short text in Chinese characters alone is Chinese, but may be Japanese.
    if is_asked && asked.lang == Lang::Cmn && found.script() == Script::Mandarin {
        return Finding::met(format!("the text is in {}", asked.name));
    }
    if !is_asked && (decides || is_reliable) {
        return Finding::not_met(format!(
            "the text is in {}; {} was asked for",
            Tongue::named(found.lang()),
            asked.name
        ));
    }
    unknown(if letters < min_letters {
        "there are too few letters"
    } else {
        "the text is too mixed or too unusual"
    })
}

fn script_name(script: Script) -> String {
    match script {
        Script::Mandarin => "Chinese".to_owned(),
        other => other.name().to_owned(),
    }
}
