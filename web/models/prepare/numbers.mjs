// Numbers of every kind as each language writes them, for the slots of numbers.tsv.
import { tidy } from '../corpus.mjs';

const locales = { en: 'en-US', de: 'de-DE', fr: 'fr-FR', zh: 'zh-CN' };
const languages = Object.keys(locales);
const same = (text) => Object.fromEntries(languages.map((language) => [language, text]));
/** `write(locale, language)` for each language, with one kind of space. */
const each = (write) =>
  Object.fromEntries(languages.map((language) => [language, tidy(write(locales[language], language))]));
const formats = new Map();
function written(value, options) {
  return (locale) => {
    const kind = JSON.stringify([locale, options]);
    if (!formats.has(kind)) formats.set(kind, new Intl.NumberFormat(locale, options));
    return formats.get(kind).format(value);
  };
}
function withUnit(value, unit) {
  const number = written(value, { maximumFractionDigits: 3 });
  return each((locale, language) => number(locale) + (language === 'zh' ? '' : ' ') + unit);
}
const two = (n) => `${n}`.padStart(2, '0');

const streets = [
  'Hauptstraße', 'Main Street', 'Bahnhofstraße', 'Rue Pasteur', 'Gartenweg', 'Park Avenue', 'Lindenallee', 'Oak Road',
  'Schulstraße', 'Avenue Foch',
];
const towns = 'Berlin Hamburg Boston Lyon Graz Zürich Paris London Leipzig Dallas Nantes Wien'.split(' ');
const currencies = ['EUR', 'USD', 'GBP', 'JPY', 'CHF', 'CNY', 'EUR', 'USD'];

/** Numbers to draw, small and large ones alike. */
function numbers({ any, range, random }) {
  const ofDigits = (digits) => range(10 ** (digits - 1), 10 ** digits - 1);
  const fraction = (digits) => range(1, 10 ** digits - 1) / 10 ** digits;
  return {
    ofDigits, fraction,
    value: () => ofDigits(range(1, 6)) + (random() < 0.6 ? fraction(2) : 0),
    maybeFraction: () => any([0, 0, fraction(1)]),
  };
}

function quantities(draw) {
  const { any, range, random } = draw;
  const { ofDigits, fraction, value, maybeFraction } = numbers(draw);
  return {
    real() {
      const real = any([1, 1, -1]) * (range(0, 999) + fraction(range(1, 3)));
      return each(written(real, { maximumFractionDigits: 3 }));
    },
    integer: () => each(written(ofDigits(range(3, 8)))),
    percent() {
      const share = (range(1, 100) + maybeFraction()) / 100;
      return each(written(share, { style: 'percent', maximumFractionDigits: 1 }));
    },
    money() {
      const digits = random() < 0.2 ? { maximumFractionDigits: 0 } : {};
      const currency = { style: 'currency', currency: any(currencies), currencyDisplay: 'narrowSymbol' };
      return each(written(value(), { ...currency, ...digits }));
    },
    degrees: () => withUnit(range(-30, 120) + maybeFraction(), '°C'),
    distance: () => withUnit(value(), any(['km', 'm', 'cm', 'mm'])),
    weight: () => withUnit(value(), any(['kg', 'g', 'mg', 't'])),
    size: () => withUnit(ofDigits(range(1, 3)) + maybeFraction(), any(['KB', 'MB', 'GB', 'TB'])),
    speed: () => withUnit(range(5, 300), any(['km/h', 'm/s'])),
    dims() {
      const sides = [range(1, 90) + maybeFraction(), range(1, 90)];
      return each((locale) => `${sides.map((side) => written(side)(locale)).join(' x ')} m`);
    },
  };
}

function datesAndPlaces(draw) {
  const { any, range } = draw;
  const { ofDigits } = numbers(draw);
  const day = () => new Date(Date.UTC(range(1900, 2035), range(0, 11), range(1, 28)));
  return {
    isodate: () => same(day().toISOString().slice(0, 10)),
    longdate() {
      const date = day();
      return each((locale) => new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeZone: 'UTC' }).format(date));
    },
    clock: () => same(`${two(range(0, 23))}:${two(range(0, 59))}`),
    address: () => same(`${any(streets)} ${range(1, 250)}, ${ofDigits(5)} ${any(towns)}`),
  };
}

function codes(draw) {
  const { any, range, random } = draw;
  const { ofDigits } = numbers(draw);
  const byte = () => range(0, 255);
  return {
    ratio: () => same(`${range(1, 20)}:${range(1, 20)}`),
    score() {
      const goals = [range(1, 9), range(0, 9)];
      return each((_, language) => goals.join(language === 'de' ? ':' : '-'));
    },
    range() {
      const from = range(2, 60);
      return same(`${from}-${from + range(1, 30)}`);
    },
    version: () => same([range(0, 30), range(0, 40), ...random() < 0.7 ? [range(0, 30)] : []].join('.')),
    ip() {
      const port = random() < 0.2 ? `:${range(80, 9999)}` : '';
      return same([any([10, 127, 172, 192, range(1, 223)]), byte(), byte(), range(1, 254)].join('.') + port);
    },
    tel() {
      const pairs = Array.from({ length: 4 }, () => two(range(0, 99))).join(' ');
      const german = [`+49 ${range(30, 899)} ${ofDigits(7)}`, `0${ofDigits(3)} ${ofDigits(6)}`];
      return same(any([...german, `(${range(201, 989)}) ${range(200, 999)}-${ofDigits(4)}`, `+33 1 ${pairs}`]));
    },
    order() {
      const digits = ofDigits(range(5, 9));
      return same(any([`${digits}`, `#${ofDigits(5)}`, `A-${ofDigits(6)}`, `${range(2020, 2030)}-${ofDigits(4)}`]));
    },
    digits: () => same(`${ofDigits(range(3, 10))}`),
  };
}

/** What the slots of numbers.tsv are filled with. */
export const measures = (draw) => ({ ...quantities(draw), ...datesAndPlaces(draw), ...codes(draw) });
