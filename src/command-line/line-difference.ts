/** The most lines that are compared pair by pair; larger texts are shown as removed and added. */
const pairsMaximum = 4_000_000;

/**
 * How a text became another one, line by line: ` ` before a line that both have, `-` before one that only the first
 * has, `+` before one that only the second has.
 */
export function differenceOf(before: readonly string[], after: readonly string[]): string[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (
    end < before.length - start &&
    end < after.length - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  ) {
    end += 1;
  }
  return [
    ...before.slice(0, start).map((line) => ` ${line}`),
    ...middle(before.slice(start, before.length - end), after.slice(start, after.length - end)),
    ...before.slice(before.length - end).map((line) => ` ${line}`),
  ];
}

/** By the longest common subsequence of lines. */
function middle(before: readonly string[], after: readonly string[]): string[] {
  if (before.length * after.length > pairsMaximum) {
    return [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)];
  }
  const width = after.length + 1;
  const common = new Uint16Array((before.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row -= 1) {
    for (let column = after.length - 1; column >= 0; column -= 1) {
      const isSame = before[row] === after[column];
      const longest = isSame ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
      common[row * width + column] = longest;
    }
  }
  const lines: string[] = [];
  let [row, column] = [0, 0];
  while (row < before.length || column < after.length) {
    if (row < before.length && column < after.length && before[row] === after[column]) {
      lines.push(` ${before[row]}`);
      row += 1;
      column += 1;
    } else if (column === after.length || (row < before.length && at(row + 1, column) >= at(row, column + 1))) {
      lines.push(`-${before[row]}`);
      row += 1;
    } else {
      lines.push(`+${after[column]}`);
      column += 1;
    }
  }
  return lines;
}
