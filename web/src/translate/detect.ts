// Detects the language of a text by its letters and most frequent words; null if they do not suffice.

const LANGUAGES = Object.entries({
  de: [
    'der die das und ist ich nicht ein eine einen zu mit auf wir sie es den dem von habe haben hat wie wo sind bin auch du mein meine heute guten bitte danke er ihr für wenn dass',
    'äöüß',
  ],
  en: [
    'the and is i you not a an to with we they it of have has how what where are am my this that was do your good hello please he she for',
    '',
  ],
  fr: [
    'le la les et est je ne pas un une des du de nous vous il elle avec que qui dans sont suis mon ce bonjour merci où au en pour sur mais tu ma très bien',
    'àâçéèêëîïôùûœ',
  ],
  es: [
    'el la los las y es yo no un una de del que en con por para está como pero muy mi se qué hola gracias',
    'áéíóúñ',
  ],
  it: ['il la lo gli le e è io non un una di del che in con per sono come ma molto mio si ciao grazie', 'àèéìòù'],
  nl: ['de het een en is ik niet van dat met op wij je zijn heb hoe wat waar mijn dit maar voor', 'ë'],
}).map(([language, [words, letters]]) => ({ language, words: new Set(words.split(' ')), letters }));
const SCRIPTS = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['zh', /\p{Script=Han}/gu],
  ['ru', /\p{Script=Cyrillic}/gu],
] as const;
/** Every letter of the languages above. */
const KNOWN = new Set(`abcdefghijklmnopqrstuvwxyz${LANGUAGES.map(({ letters }) => letters).join('')}`);

export function languageOf(text: string): string | null {
  const letters = text.toLowerCase().normalize('NFC').match(/\p{L}/gu) ?? [];
  const script = SCRIPTS.find(([, pattern]) => (text.match(pattern)?.length ?? 0) > 0.3 * letters.length);
  if (script) return script[0];
  if (letters.some((letter) => !KNOWN.has(letter))) return null;
  const words =
    text
      .toLowerCase()
      .normalize('NFC')
      .match(/\p{L}+/gu) ?? [];
  // A letter counts only with a word: names keep their own letters.
  const scores = LANGUAGES.map(({ language, words: known, letters: own }) => {
    const count = words.filter((word) => known.has(word)).length;
    return { language, score: count && count + letters.filter((letter) => own.includes(letter)).length };
  }).sort((a, b) => b.score - a.score);
  const [best, next] = scores;
  return best.score >= 2 && best.score >= 2 * next.score ? best.language : null;
}
