/** The Markdown that the checks of the documents have to read: fenced blocks, tables and links. */

/** A fenced block: ```` ```language words ```` to ```` ``` ````. */
export interface FencedBlock {
  readonly language: string;
  /** The words after the language, e.g. `runnable` or `answer`. */
  readonly words: readonly string[];
  readonly text: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
}

/** All fenced blocks, in order. @throws Error when the last one does not end */
export function fencedBlocks(markdown: string): FencedBlock[] {
  const blocks: FencedBlock[] = [];
  let open: { readonly info: string; readonly line: number; readonly text: string[] } | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    if (open === undefined) {
      if (line.startsWith('```')) open = { info: line.slice(3).trim(), line: index + 1, text: [] };
    } else if (line === '```') {
      const [language = '', ...words] = open.info.split(/\s+/);
      blocks.push({ language, words, text: open.text.map((text) => `${text}\n`).join(''), line: open.line });
      open = undefined;
    } else {
      open.text.push(line);
    }
  }
  if (open !== undefined) throw new Error(`The block that begins in line ${open.line} does not end`);
  return blocks;
}

/** The blocks marked `example=<name>`, by that name. */
export function exampleBlocks(markdown: string): Map<string, FencedBlock> {
  const mark = 'example=';
  const marked = fencedBlocks(markdown).filter(({ words }) => words[0]?.startsWith(mark) === true);
  return new Map(marked.map((block) => [(block.words[0] ?? '').slice(mark.length), block]));
}

/** The document without its fenced blocks, which contain no tables, headings or links. */
function prose(markdown: string): string {
  return markdown.replaceAll(/^```[\s\S]*?^```$/gm, '');
}

/** The cells of every row of every table, without the heads. */
export function tableRows(markdown: string): string[][] {
  const lines = prose(markdown).split('\n');
  return lines
    .filter((line, index) => line.startsWith('|') && !isRule(line) && !isRule(lines[index + 1] ?? ''))
    .map((line) =>
      line
        .slice(1, line.lastIndexOf('|'))
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    );
}

function isRule(line: string): boolean {
  return /^\|(\s*:?-+:?\s*\|)+$/.test(line);
}

/** Targets of links and pictures, as they are written. */
export function linkTargets(markdown: string): string[] {
  return [...prose(markdown).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
}

/** The names under which a document's headings can be linked to. */
export function headingAnchors(markdown: string): Set<string> {
  const headings = [...prose(markdown).matchAll(/^#{1,6} (.+)$/gm)].map((match) => match[1] ?? '');
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{Letter}\p{Number}\s_-]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}
