// Relations between marked entities as texts with a label (SemEval-2010 task 8: lines of label, tab, sentence with <e1>,
// </e1>, <e2>, </e2>):
//   node web/models/relations.mjs near < all.tsv > near.tsv
//     keeps the entities, everything between them, and up to two words before the first and after the second
//   node web/models/relations.mjs score near.tsv < found.txt
//     the task's official macro F1: the mean over the relations except Other. Both directions of a relation are counted
//     together, but a prediction in the wrong direction is an error.
import { readFileSync } from 'node:fs';

const [what, file] = process.argv.slice(2);
const linesOf = (text) => text.trimEnd().split('\n');
const given = linesOf(readFileSync(0, 'utf8'));

function near(line, number) {
  const [label, text = ''] = line.split('\t');
  const words = text.replace(/<\/?e[12]>/g, ' $& ').trim().split(/\s+/);
  const marks = words.flatMap((word, i) => (/^<\/?e[12]>$/.test(word) ? [i] : []));
  if (marks.length < 4) throw new Error(`line ${number + 1} does not mark two entities with <e1>, </e1>, <e2> and </e2>`);
  return `${label}\t${words.slice(Math.max(0, marks[0] - 2), marks.at(-1) + 3).join(' ')}`;
}

function score(expected, found) {
  if (expected.length !== found.length) throw new Error(`expected ${expected.length} lines, but got ${found.length}`);
  const relation = (label) => label.split('(')[0];
  const relations = [...new Set(expected.map(relation))].filter((name) => name !== 'Other');
  const f1 = relations.map((name) => {
    const right = expected.filter((label, i) => relation(label) === name && label === found[i]).length;
    const of = (labels) => labels.filter((label) => relation(label) === name).length;
    return (2 * right) / (of(expected) + of(found));
  });
  return (100 * f1.reduce((sum, value) => sum + value, 0)) / f1.length;
}

if (what === 'near') {
  console.log(given.map(near).join('\n'));
} else if (what === 'score' && file) {
  const labels = (lines) => lines.map((line) => line.split('\t')[0]);
  console.log(`macro F1 ${score(labels(linesOf(readFileSync(file, 'utf8'))), labels(given)).toFixed(1)}`);
} else {
  throw new Error('expected near or score: see the head of this file');
}
