// The language of a text, told by its letters and its most frequent words; null where they do not tell.

const FREQUENT = Object.entries({
  de: 'der die das und ist ich nicht ein eine einen zu mit auf wir sie es den dem von haben hat wie wo sind bin auch du mein heute guten bitte danke',
  en: 'the and is i you not a an to with we they it of have has how what where are am my this that was do your good hello please',
  fr: 'le la les et est je ne pas un une des du nous vous il elle avec que qui dans sont suis mon ce bonjour merci où',
}).map(([language, words]) => [language, new Set(words.split(' '))] as const);
const LETTERS = [['de', /[äöüß]/gu], ['fr', /[éèêàçùœ]/gu]] as const;
const SCRIPTS = [['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu], ['zh', /\p{Script=Han}/gu], ['ru', /\p{Script=Cyrillic}/gu]] as const;

export function languageOf(text: string): string | null {
  const lower = text.toLowerCase();
  const letters = lower.match(/\p{L}/gu)?.length ?? 0;
  const script = SCRIPTS.find(([, pattern]) => (lower.match(pattern)?.length ?? 0) > 0.3 * letters);
  if (script) return script[0];
  const words = lower.match(/\p{L}+/gu) ?? [];
  const scores = FREQUENT.map(([language, known]) => {
    const own = LETTERS.find(([of]) => of === language)?.[1];
    return [language, words.filter((word) => known.has(word)).length + (own ? (lower.match(own)?.length ?? 0) : 0)] as const;
  }).sort(([, a], [, b]) => b - a);
  const [[best, most], [, next]] = scores;
  return most >= 2 && most >= 2 * next ? best : null;
}
