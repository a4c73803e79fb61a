// What is typed at random.

const LONGEST_WORD = 9;
const MOST_WORDS = 6;
const CHANCE_OF_NEIGHBOR = 0.6;

/** `count` texts without sense on each of the keyboards, which are rows of keys separated by spaces. */
export function nonsense(keyboards, count, random) {
  const below = (end) => Math.floor(random() * end);
  const word = (rows) => {
    const isWalk = random() < 0.5;
    let keys = rows[below(rows.length)], at = below(keys.length), text = '';
    for (let length = 2 + below(LONGEST_WORD - 1); text.length < length; text += keys[at]) {
      if (isWalk && random() < CHANCE_OF_NEIGHBOR) at = (at + 1) % keys.length;
      else {
        if (!isWalk) keys = rows[below(rows.length)];
        at = below(keys.length);
      }
    }
    return text;
  };
  return keyboards.flatMap((keyboard) => {
    const rows = keyboard.split(' ');
    const words = () => Array.from({ length: 1 + below(MOST_WORDS) }, () => word(rows));
    return Array.from({ length: count }, () => words().join(' '));
  });
}
