/** A class of Unicode, such as \p{L}, has hundreds of ranges. */
const unicodeClassCost = 10;

/**
 * About how many instructions a regular expression becomes. Repetitions are written out: `(a{9}){9}` counts as
 * eighty-one. Only the text is read, so the cost is known before anything is compiled.
 */
export function patternCost(pattern: string): number {
  const outer: number[] = [];
  let sum = 0;
  // The cost of the part that a repetition would repeat.
  let last = 0;
  const atom = (cost: number): void => {
    sum += last;
    last = cost;
  };
  for (let at = 0; at < pattern.length; at += 1) {
    switch (pattern.charAt(at)) {
      case '\\':
        atom(/[pP]/.test(pattern.charAt(at + 1)) ? unicodeClassCost : 1);
        at += (/^[pP](?:\{[^}]*\}|.)/s.exec(pattern.slice(at + 1, at + 64))?.[0] ?? 'a').length;
        break;
      case '[': {
        const end = endOfClass(pattern, at);
        atom(classCost(pattern.slice(at, end)));
        at = end;
        break;
      }
      case '(':
        atom(0);
        outer.push(sum);
        sum = 0;
        break;
      case ')': {
        const inside = sum + last + 1;
        sum = outer.pop() ?? 0;
        last = inside;
        break;
      }
      case '{': {
        const times = /^\{(\d+)(?:,(\d*))?\}/.exec(pattern.slice(at, at + 24));
        if (times === null) atom(1);
        else {
          const [whole, least = '', most] = times;
          last *= Math.max(1, Number(least) + (most === '' ? 1 : 0), Number(most ?? 0));
          at += whole.length - 1;
        }
        break;
      }
      default:
        atom(1);
    }
  }
  return outer.reduce((whole, part) => whole + part, sum + last);
}

/** Every range of a class is checked wherever the class is repeated. */
function classCost(text: string): number {
  return 1 + Math.floor(text.length / unicodeClassCost) + unicodeClassCost * (text.split(/\\[pP]/).length - 1);
}

/** The position of the `]` that ends the class beginning at `begin`; the end of the pattern when there is none. */
function endOfClass(pattern: string, begin: number): number {
  const first = begin + (pattern[begin + 1] === '^' ? 2 : 1);
  // In first position a `]` stands for itself.
  for (let at = pattern[first] === ']' ? first + 1 : first; at < pattern.length; at += 1) {
    if (pattern[at] === '\\') at += 1;
    else if (pattern[at] === ']') return at;
  }
  return pattern.length;
}
