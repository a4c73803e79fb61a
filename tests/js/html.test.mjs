// Markup around translated text: the cases of Bergamot's specification, generated pages, and broken markup.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { backwards, dictionary, html, reversing, same } from './support-pages.mjs';

const restored = {
  nothing: '', 'no text': '<p></p>', 'a paragraph': '<p>hello <b>world</b></p>\n',
  'capitals, and a line break': '<P><B>Space</B><BR>please?</p>',
  'entities in attributes and text': '<p data-attr="&quot;&apos;&eacute;">text &lt;with&gt; named &amp; entities</p>',
  'two spaces before an image': 'One sentence. The <b>best  <img src=x alt="a>b"></b> deal. <u>Three</u>',
  'nested elements': '<p>hello <img> <b>world</b> <u>and other <a href="#">creatures</a></u></p>',
  'a break at the end': 'hello <br>', 'an empty element at the end': 'hello <u></u>', 'a break at the end of a paragraph': '<p>hello <br></p>',
  'nested empty elements': 'a <span> <img> <u></u> <b></b> <img> </span> b',
  'a script': 'hello <script>alert("<foo>");</script>world',
  'a comment': 'foo <!-- <ignore> me -->bar',
  'a place to break a word': 'hello<wbr>, hello<WBR>',
  'inline code': 'foo <var><var>nested</var></var> bar, foo <var>&amp;</var> bar',
  preformatted: '<pre>one\n  <b>two</b></pre><style>p { }</style><textarea>a <b></textarea>',
  'attributes without quotes or values': "<span class=q data-x='1'>The dog</span> <input disabled> sleeps",
  'a doctype and a page': '<!DOCTYPE html>\n<html lang=en>\n<head><title>A &amp; b</title><meta charset=utf-8></head>\n<body>\n  <h1>Hello</h1>\n</body></html>\n',
  'an element around blocks': 'one <a href="x">two <div>three</div> four</a> five',
  'tags without a partner': 'one <b>two <i>three</b> four</i> five</p> six <u>seven',
  'a part of a page': '</div><p>text</p></body>',
  'an element without an end in a paragraph': '<p>one <b>two</p><p>three</p>',
  'an end without a name': 'one</>&gt; two',
  'ends of what has none': 'a </img> b </wbr> <b>c</br></b>',
  'a tag that is cut off': 'hello <b cla', 'only signs': '<p>1 &lt; 2 &amp; 3 &gt; 2 &copy;</p>',
  'what is marked': 'my <span translate="no">Name</span> is <p class="a notranslate">Bond</p>',
  'a vector image': 'an <svg><title>x</title><path d="M0"/></svg> icon', CDATA: 'a <![CDATA[ b ]]> c',
};
for (const [name, markup] of Object.entries(restored)) {
  // Entities that are not needed become the characters themselves; white space inside sentences is one space.
  test(`translating to the source itself keeps the markup: ${name}`, async () => {
    assert.equal(await html(markup), markup.replace(/ {2,}(?=<img src)/, ' '));
  });
}

test('quoted text in an end tag is not markup', async () => {
  const end = '</b title="> <i>x</i> <img src=x onerror=alert(1)> w">';
  assert.equal(await html(`<p>a <b>foo${end} bar</p>`, reversing), `<p>BAR <b>FOO${end} A</p>`);
  assert.equal(await html(`a <b>foo</b x="1"y = '>' z=a"> bar`, reversing), `BAR <b>FOO</b x="1"y = '>' z=a"> A`);
  assert.equal(await html('a <b>foo</b "> bar', reversing), 'BAR <b>FOO</b "> A', 'a quote that begins no value');
  assert.equal(await html('a <b>foo</b x="> bar', reversing), 'A <b>FOO</b x="> bar', 'one that is cut off hides the rest');
});

test('translate, class and id are recognized only as whole attributes', async () => {
  for (const open of ['<p class="my-notranslate-x">', '<p data-x="a translate=no">', '<p title=" class=notranslate">', '<p class=a class=notranslate>']) {
    assert.equal(await html(`${open}word</p>`, reversing), `${open}WORD</p>`);
  }
  for (const open of ['<p TRANSLATE=No>', "<p class='a\nnotranslate b'>", '<p class="&#110;otranslate">']) assert.equal(await html(`${open}word</p>`, reversing), `${open}word</p>`);
  assert.match(await html('<b data-x=" id=1">one two</b> three', dictionary({ 'one two three': 'one|0 three|2 two|1' })), /^<b.*<b/);
});

test('translate="yes" inside what is kept is translated, as the HTML standard says', async () => {
  const pages = {
    '<p translate="no">one <span translate="yes">two <b>three</b></span> four</p>': '<p translate="no">one <span translate="yes"><b>THREE</b> TWO</span> four</p>',
    '<div translate=no>a <p translate>b</p> c <p translate=YES>d</p> e</div> f': '<div translate=no>a <p translate>B</p> c <p translate=YES>D</p> e</div> F',
    '<i translate=no>a <u translate=yes>b <s translate=no>c <q translate=yes>d</q></s></u></i>':
      '<i translate=no>a <u translate=yes>B <s translate=no>c <q translate=yes>D</q></s></u></i>',
    '<p translate=no>a <code translate=yes>b</code> <i class=notranslate translate=yes>c</i> <b>d</b></p>': undefined,
    '<pre translate=no>a <b translate=yes>b</b></pre>': undefined,
    '<p translate=maybe>a</p>': '<p translate=maybe>A</p>',
  };
  for (const [page, translated] of Object.entries(pages)) assert.equal(await html(page, reversing), translated ?? page);
  const [open, close] = ['<i translate=no>x<b translate=yes>y', '</b></i>'].map((tag) => tag.repeat(5000));
  assert.ok(await html(open + close, reversing) === open.replaceAll('>y', '>Y') + close, 'ten thousand one in the other');
});

test('the model gets sentences without markup, with white space as a page shows it', async () => {
  const seen = async (markup) => {
    const all = [];
    await html(markup, { info: {}, translate: async (texts, options) => (all.push(...texts), same.translate(texts, options)) });
    return all;
  };
  assert.deepEqual(await seen('<P><B>Spa</B>ce<BR>please?</p>'), ['Space', 'please?']);
  assert.deepEqual(await seen('<p>text &lt;with&gt;\n   named&nbsp;&amp; ent&shy;ities</p>'), ['text <with> named\u00a0& entities']);
  assert.deepEqual(await seen('<p>hello<img/>world</p>'), ['hello world']);
  assert.deepEqual(await seen('un<u>der</u>line, hel<wbr>lo <!-- no -->you'), ['underline, hello you']);
  assert.deepEqual(await seen('foo <code>x</code> bar <script>no</script><p>It rains. We stay.</p><p>1 2</p>'), ['foo bar', 'It rains.', 'We stay.']);
  assert.deepEqual(await seen('<ul><li>red car<li>blue car<li>red car</ul>'), ['red car', 'blue car'], 'each different sentence once');
});

test('tags stay around the words they belong to', async () => {
  const cars = { 'I like to drive this car.': 'Ich|0 fahre|3 gerne|1 dieses|4 Auto|5 _.|6' };
  assert.equal(await html('<p>I <b>like</b> to <u>drive</u> this car.</p>', dictionary(cars)),
    '<p>Ich <u>fahre</u> <b>gerne</b> dieses Auto.</p>');
  assert.equal(await html('<p><i>I like</i> to drive <a href="?a=1&b">this car</a>.</p>', dictionary(cars)),
    '<p><i>Ich</i> fahre <i>gerne</i> <a href="?a=1&b">dieses Auto</a>.</p>');
  // A link stays one link, around most of its words.
  const calls = { 'I will call up my friend today.': 'Heute|6 rufe|2 ich|0 meinen|4 Freund|5 an|3 _.|7' };
  assert.equal(await html('I will <a href=x>call up my friend</a> <b>today.</b>', dictionary(calls)),
    '<b>Heute</b> rufe ich <a href=x>meinen Freund an</a>.');
});

test('an element around part of a word wraps the whole word', async () => {
  assert.equal(await html('un<u>der</u>line'), '<u>underline</u>');
  assert.equal(await html('<b>Spa</b>ce, please'), '<b>Space</b>, please');
});

test('footnote marks, exponents and indices stay beside their words', async () => {
  const note = '<sup><a href="#r1">1</a></sup>';
  assert.equal(await html(`<p>Das ist sehr wichtig${note}.</p>`, dictionary({ 'Das ist sehr wichtig.': 'important|3 this|0 is|1 very|2 _.|4' })),
    `<p>important${note} this is very.</p>`);
  assert.equal(await html(`Hier${note} und da.${note} Dort<sup>[2]</sup>`, reversing), `DA UND HIER${note}.${note} DORT<sup>[2]</sup>`);
  assert.equal(await html('25 m<sup>2</sup> Land, 10<sup>-6</sup> und CO<sub>2</sub>', reversing), 'CO<sub>2</sub> UND 10<sup>-6</sup>, LAND M<sup>2</sup> 25');
  assert.equal(await html('Die 25 m<sup>2</sup>-Wohnung'), 'Die 25 m<sup>2</sup>-Wohnung');
  assert.equal(await html(`<b>eins</b>${note}${note} zwei`, reversing), `ZWEI <b>EINS</b>${note}${note}`);
  assert.equal(await html('<a href=x>eins<sup>1</sup></a> zwei', reversing), 'ZWEI <a href=x>EINS<sup>1</sup></a>');
  assert.equal(await html('eins<a href=x><sup>1</sup></a>, zwei', reversing), 'ZWEI, EINS<a href=x><sup>1</sup></a>');
  const formula = dictionary({ 'H2O ist in C6H12O.': 'in|2 C6H12O|3 is|1 H2O|0 _.|4' });
  assert.equal(await html('<p>H<sub>2</sub>O ist in C<sub>6</sub>H<sub>12</sub>O<sub>6</sub>.</p>', formula),
    '<p>in C<sub>6</sub>H<sub>12</sub>O<sub>6</sub> is H<sub>2</sub>O.</p>');
  const ordinal = dictionary({ 'le 1er jour': 'the|0 first|1 day|2' });
  assert.equal(await html('le 1<sup>er</sup> jour', ordinal), 'the <sup>first</sup> day', 'with letters it is a part of the word');
  assert.equal(await html('<sup>1</sup> Siehe dort', dictionary({ '1 Siehe dort': '1|0 see|1 there|2' })), '<sup>1</sup> see there');
});

test('nothing is lost: elements without words of their own, images, escapes', async () => {
  const czech = { 'I like to drive this car.': 'Rád|0 řídím|0 to|4 auto|5 _.|6' };
  assert.equal(await html('<p>I <b>like</b> to <u>drive</u> this car.</p>', dictionary(czech)), '<p>Rád řídím <b></b><u></u>to auto.</p>');
  assert.equal(await html('<p>I <b>like <img src=x> </b> to drive this car.</p>', dictionary(czech)), '<p>Rád řídím <b><img src=x></b>to auto.</p>');
  assert.equal(await html('Say it', dictionary({ 'Say it': '<b>|0 &|1' })), '&lt;b&gt; &amp;');
});

/** A generator of numbers that gives the same ones each time. */
function random(seed) {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
const vocabulary = 'the river small green boat sings while seven old friends write letters about music and warm bread'.split(' ');

/** A page from templates, with the text of each of its blocks. */
function page(seed) {
  const draw = random(seed);
  const one = (items) => items[draw(items.length)];
  const blocks = [];
  const inline = (depth) => Array.from({ length: 1 + draw(4) }, () => {
    const words = Array.from({ length: 1 + draw(3) }, () => one(vocabulary)).join(' ');
    if (depth === 0 || draw(2) === 0) return one([words, words, `${words} &amp; ${words}`, `${words}<!-- c${draw(99)} -->`, `${words} <img src="${draw(99)}.png" alt="a &lt; b">`]);
    const [open, close] = one([['<b>', '</b>'], ['<em class="x y">', '</em>'], [`<a href="?q=${draw(99)}&amp;r" id="i${draw(1e9)}">`, '</a>'],
      ["<span style='color: red'>", '</span>'], ['<I>', '</I>'], [`<a href=/p${draw(1e9)}>`, '</a>']]);
    return `${open}${inline(depth - 1)}${close}`;
  }).join(' ');
  const block = (open, close) => {
    const content = `${inline(2)} ${one(vocabulary)}${one(['.', '!', '?', ''])}`;
    blocks.push(content.replace(/<[^>]*>/g, '').replaceAll('&amp;', '&'));
    return `${open}${content}${close}`;
  };
  const section = () => one([
    () => block('<p>', '</p>'), () => block('<h2 class="t">', '</h2>'), () => `<ul>\n  ${block('<li>', '</li>')}\n  ${block('<li>', '')}</ul>`,
    () => `<script>if (a < b && "<p>${draw(99)}</p>") run();</script>`, () => `<style>p > b { color: #${draw(9)} }</style>`,
    () => `<pre>let x = ${draw(9)};\n  <i>keep</i></pre>`, () => `<table><tr>${block('<td>', '</td>')}${block('<th>', '</th>')}</tr></table>`,
    () => `<div data-a='"${draw(9)}"'>${block('', '')}<br>${block('', '')}</div>`, () => `<form><input value="the river"><button>${block('', '')}</button></form>`,
  ])();
  const markup = `<!doctype html><html><head>${block('<title>', '</title>').replace(/<(?!\/?title)[^>]*>/g, '')}</head><body>\n${Array.from({ length: 12 }, section).join('\n')}</body></html>`;
  return { markup, blocks };
}

const tagsOf = (markup) => markup.match(/<!--.*?-->|<script[^]*?<\/script>|<style[^]*?<\/style>|<pre[^]*?<\/pre>|<[^>]*>/gi);
const letters = (text) => text.replace(/\s/g, '');

test('200 generated pages keep every tag, balanced, and have the text of the plain translations', async () => {
  let copies = 0;
  for (let seed = 1; seed <= 200; seed++) {
    const { markup, blocks } = page(seed);
    const result = await html(markup, reversing);
    const [before, after] = [markup, result].map((text) => Map.groupBy?.(tagsOf(text), (tag) => tag) ?? groups(tagsOf(text)));
    assert.deepEqual([...after.keys()].sort(), [...before.keys()].sort(), `page ${seed}`);
    for (const [tag, { length }] of after) {
      const isFormat = /^<\/?(b|em|span|i)\b/i.test(tag);
      assert.ok(isFormat ? length >= before.get(tag).length : length === before.get(tag).length, `page ${seed}: ${tag}`);
      copies += length - before.get(tag).length;
    }
    const open = [];
    for (const [, slash, name] of result.matchAll(/<!--.*?-->|<script[^]*?<\/script>|<(\/?)(b|em|a|span|i)\b[^>]*>/gi)) {
      if (name && !slash) open.push(name);
      else if (name) assert.equal(open.pop(), name, `page ${seed}`);
    }
    const shown = result.replace(/<!--.*?-->|<(script|style|pre)[^]*?<\/\1>|<[^>]*>/g, '').replaceAll('&amp;', '&');
    assert.equal(letters(shown), letters(blocks.map((text) => backwards(text.trim()).text).join('')), `page ${seed}`);
  }
  assert.ok(copies > 0, 'formatting that is torn apart is repeated');
});

function groups(items) {
  const found = new Map();
  for (const item of items) found.set(item, [...(found.get(item) ?? []), item]);
  return found;
}

// WASMFORMER_FUZZ_MARKUP=1000000 for a long campaign.
const count = Number(process.env.WASMFORMER_FUZZ_MARKUP ?? 2000);
test(`${count} pages of broken markup: no crash, and translating again keeps the text`, async () => {
  const scraps = ['<', '>', '</', '/>', '"', "'", '&', '&#', '&#x110000;', '&nbsp;', '<!--', '-->', '<b>', '</b>', '</p>', '<a href="', '<script>', '</script>',
    '<![CDATA[', ']]>', '<?', '<svg>', '<title>', '<textarea>', '<plaintext>', '<code>', '\0', '\ud800', '\u00ad', '<p', '<i><u><b>', '<ruby>a<rt>b', ' ', '. '];
  for (let seed = 1; seed <= count; seed++) {
    const draw = random(seed);
    let { markup } = page(draw(1e6));
    const from = draw(markup.length);
    markup = markup.slice(from, from + 20 + draw(400));
    for (let changes = draw(12); changes > 0; changes--) {
      const [at, length] = [draw(markup.length), draw(2) * draw(30)];
      const scrap = draw(3) === 0 ? markup.slice(draw(markup.length)).slice(0, draw(40)) : scraps[draw(scraps.length)];
      markup = markup.slice(0, at) + scrap + markup.slice(at + length);
    }
    const once = await html(markup);
    assert.equal(letters(await html(once)), letters(once), `seed ${seed}: ${JSON.stringify(markup)}`);
    await html(markup, reversing);
  }
});

test('thousands of nested elements, and ten thousand sentences', async () => {
  for (const [open, close] of [['<b>', '</b>'], ['<div>', '</div>'], ['<b>', '']]) {
    const deep = `${open.repeat(20_000)}word${close.repeat(20_000)}`;
    assert.equal(await html(deep), deep);
  }
  const long = Array.from({ length: 10_000 }, (_, i) => `<p>Sentence <i>number</i> ${i}.</p>`).join('');
  assert.equal(await html(long), long);
});

test('twenty thousand empty elements and two thousand formatted words side by side', async () => {
  const empty = `<p>hello ${'<i></i>'.repeat(20_000)}</p>`;
  assert.equal(await html(empty), empty);
  const formatted = '<b>a</b> '.repeat(2000);
  assert.equal(await html(formatted), formatted);
});

test('images and no-break spaces stay in place', async () => {
  assert.equal(await html('one <img><img> two', reversing), '<img><img> TWO ONE');
  assert.equal(await html('text <img><img>', reversing), 'TEXT <img><img>');
  assert.equal(await html('one<img id=1><img id=2> two'), 'one<img id=1><img id=2> two');
  assert.equal(await html('<p>a&nbsp; b</p>'), '<p>a&nbsp; b</p>');
});

test('no sentence is translated after an abort', async () => {
  const stop = new AbortController();
  let batches = 0;
  const translator = { info: {}, translate: async (texts, options) => (batches++, stop.abort(new Error('enough')), same.translate(texts, options)) };
  const markup = Array.from({ length: 100 }, (_, i) => `<p>Sentence ${i}</p>`).join('');
  await assert.rejects(html(markup, translator, { signal: stop.signal }), /enough/);
  assert.equal(batches, 1);
});
