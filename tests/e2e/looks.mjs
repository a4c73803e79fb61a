// What can be wrong with how a page looks, found without eyes: cut text, text on text, text outside, the wrong language.

export const text = 'model=en-zh&text=We+do+it.'; // no word of four letters
/** Each place's address, and what only it shows: a selector, with ` >> nth=` if need be. */
export const places = [
  [`#translate?${text}`, '.target [role=group][aria-busy=false]'],
  [`#picture?${text}`, '[data-testid=figure] [data-place="dec.3.cross"]'],
  [`#picture?${text}&at=enc`, '.more h3'],
  [`#picture?${text}&at=enc.embed`, '.scene .tokens button'],
  [`#picture?${text}&at=dec.1.self`, '[data-testid=head]'],
  [`#picture?${text}&at=dec.2.cross.h3.2-2`, '[data-testid=arithmetic] td'],
  [`#picture?${text}&at=enc.1.ffn`, '[data-testid=zeros]'],
  [`#picture?${text}&at=enc.1.selfNorm`, '[data-testid=moments] td'],
  [`#picture?${text}&at=out.softmax`, '[data-testid=logits] td'],
  [`#picture?${text}&large=1`, '[data-large] [data-testid=figure]'],
  [`#attention?${text}`, '[role=application]'],
  [`#beam?${text}`, '[role=treeitem] >> nth=8'],
  [`#intervene?${text}&heads=cross:2:1`, '[data-testid=after]'],
  [`#backwards?${text}`, '[data-testid=norm]'],
  [`#laboratory?${text}`, '.cards h3'],
  [`#laboratory?${text}&ablation=scale`, 'fieldset table'],
  [`#train?${text}`, '.sheet .example'],
  [`#classify?${text}`, '[data-testid=attended] .piece'],
  [`#models?${text}`, 'main li .name'],
  [`#about?${text}`, 'main dl'],
  ['#translate?text=', '.target .hint'],
];

/** To be run in the page: whether nothing is moving or about to be replaced. */
export const settled = () => document.querySelectorAll('.scene').length < 2
  && (!document.querySelector('.stale') || document.querySelector('#source')?.value === '');

/** To be run in the page. Each finding is a line of text; nothing is found on a page that looks right. */
export function looks() {
  const found = new Set();
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) found.add(`the page is ${root.scrollWidth - innerWidth} px too wide`);
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !element.closest('.unseen, .skip, [inert]');
  const name = (element) => `${element.tagName.toLowerCase()}${[...element.classList].map((one) => `.${one}`).join('')}`;
  const say = (text) => `“${text.trim().slice(0, 40)}”`;

  // Where the text is, line by line, as far as what lies around it lets it be seen.
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || !isShown(parent) || parent.closest('select, option, textarea, script, style, title')) continue;
    const around = [];
    for (let one = parent; one && one !== document.body; one = one.parentElement) {
      const { overflowX, overflowY, position } = getComputedStyle(one);
      if (overflowX !== 'visible' || overflowY !== 'visible') around.push([one.getBoundingClientRect(), overflowX, one]);
      if (position === 'fixed') break;
    }
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const line of range.getClientRects()) {
      let [left, right, top, bottom] = [line.left, line.right, line.top, line.bottom];
      let scrolls = false;
      for (const [box, overflow, element] of around) {
        scrolls ||= overflow === 'auto' || overflow === 'scroll';
        const isSeen = right > box.left && left < box.right && bottom > box.top && top < box.bottom;
        const isCut = !scrolls && line.width > 1 && isSeen && (left < box.left - 2 || right > box.right + 2);
        if (isCut && !element.matches('svg, svg *')) found.add(`cut: ${say(node.data)} in ${name(element)}`);
        [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      }
      if (right - left < 1 || bottom - top < 1 || parent.closest('.pane > .out')) continue; // it lies upon the figure
      if (left < -1 || right > innerWidth + 1) found.add(`outside: ${say(node.data)} in ${name(parent)}`);
      const height = bottom - top;
      boxes.push({ node, left, right, top: top + height * 0.15, bottom: bottom - height * 0.15, layer: parent.closest('[popover], aside, dialog') });
    }
  }
  for (const element of document.querySelectorAll('main *, header *, aside *')) {
    if (!isShown(element)) continue;
    const { overflowX, textOverflow } = getComputedStyle(element);
    if ((overflowX === 'hidden' || overflowX === 'clip' || textOverflow === 'ellipsis') && element.scrollWidth > element.clientWidth + 1 && element.innerText?.trim()
      && !element.matches('.pane, .pane *')) found.add(`cut: ${say(element.innerText)} in ${name(element)}`);
    if (element.matches('input:not([type=range], [type=checkbox], [type=radio], [type=file])') && element.scrollWidth > element.clientWidth + 1) found.add(`cut: the value ${say(element.value)}`);
    if (element.matches('textarea') && element.scrollHeight > element.clientHeight + 2 && getComputedStyle(element).overflowY === 'hidden') found.add('cut: a text box');
  }
  for (const [i, a] of boxes.entries()) {
    for (const b of boxes.slice(i + 1)) {
      if (a.node === b.node || a.layer !== b.layer) continue;
      const [x, y] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
      if (x > 3 && y > 3) found.add(`on each other: ${say(a.node.data)} and ${say(b.node.data)}`);
    }
  }
  return [...found];
}

/** To be run in the page: words in Latin letters that a Chinese page shows as its own. */
export function latinWords() {
  const own = 'textarea, option, math, code, :is(header, main, aside) [lang], .piece, .tokens, .example, a[rel~=external]';
  const words = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.checkVisibility() || parent.closest(`${own}, script, style`)) continue;
    for (const [word] of node.data.matchAll(/\p{Script=Latin}{4,}/gu)) words.add(word);
  }
  return [...words];
}

/** Latin words that a Chinese page may show: names, and terms in formulas. */
export const names = new Set(['Wasmformer', 'Transformer', 'Relaxed', 'SIMD', 'JSON', 'model', 'norm', 'Dropout', 'Softmax', 'softmax', 'Concat', 'Sublayer', 'logit', 'logits']);
