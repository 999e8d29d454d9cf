/**
 * Rewrites the code of a validator so that it counts its work. Every function and every turn of a loop is charged with
 * the size of the code that it runs, up to the next branch that is charged separately. Functions that a validator calls
 * and that take longer for longer values count for themselves (see validation-meter.ts).
 *
 * It depends on the forms in which Ajv writes code. Its test compiles every keyword to check that it handles them all.
 */

/** Violations are collected up to this number, and only counted beyond it. */
export const collectedViolationsMaximum = 1_000;

/**
 * A branch whose code is longer than this is charged when it is taken. A shorter one is charged together with the block
 * around it. Characters.
 */
const branchCharactersMaximum = 2_000;

/**
 * The same limit for code that handles a present field: a search for hundreds of absent fields takes next to no time.
 * Characters.
 */
const fieldCharactersMaximum = 150;

/** How many characters of code cost one step when they run. */
const charactersPerStep = 10;

/** The cost of noting an evaluated field. Characters of code. */
const notedFieldCharacters = 500;

/** The cost of beginning a call or a turn of a loop, in addition to its code, and of making a violation. Steps. */
const stepsPerCall = 20;
const stepsPerTurn = 3;
const stepsPerViolation = 150;

/**
 * Adds the counting to the code of a validator. In the result, `meter` is the meter of validation-meter.ts, taken from
 * the `self` that the code is given.
 */
export function meterCode(code: string): string {
  const texts: string[] = [];
  // Names from a schema must not be mistaken for code.
  const bare = code.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"/gs, (text) => `"${texts.push(text) - 1}"`);
  if (/\basync function\b/.test(bare)) throw new Error('a validator must return synchronously');
  const charged = withCharges(rewriteCalls(bare), texts);
  return `const meter = self.meter;${charged.replaceAll(/"(\d+)"/g, (_whole, index: string) => texts[Number(index)] as string)}`;
}

function rewriteCalls(code: string): string {
  const errors = String.raw`((?:\w|\.)+\.errors)`;
  return (
    withPointerSteps(code)
      .replaceAll(/\bfor\(const (\w+) in (\w+)\)/g, 'for(const $1 of meter.keys($2))')
      .replaceAll(/\bObject\.keys\((\w+)\)/g, 'meter.keys($1)')
      .replaceAll('Object.assign(', 'meter.assign(')
      .replaceAll(/= (scope\.func\[\d+\]);/g, '= meter.counting($1);')
      // `errors` keeps counting where the list ends.
      .replaceAll(/\bvErrors\.push\((\w+)\)/g, `vErrors.length < ${collectedViolationsMaximum} && vErrors.push($1)`)
      .replaceAll(/\bvErrors\.length = (\w+);/g, 'if(vErrors.length > $1)vErrors.length = $1;')
      .replaceAll(
        new RegExp(
          String.raw`\bvErrors = vErrors === null \? ${errors} : vErrors\.concat\(${errors}\);\s*errors = vErrors\.length;`,
          'g',
        ),
        'errors += $1.length;vErrors = meter.joined(vErrors, $1);',
      )
  );
}

function withPointerSteps(code: string): string {
  // The search takes long, and fields that the schema names have no such call.
  if (!code.includes('.replace(')) return code;
  return code.replaceAll(/\b(\w+)\.replace\(\/~\/g, "\d+"\)\.replace\(\/\\\/\/g, "\d+"\)/g, 'meter.pointerStep($1)');
}

interface Block {
  readonly kind: 'function' | 'loop' | 'branch' | 'field' | 'violation';
  /** Where its charge is inserted. */
  readonly begin: number;
  /** The size of the code that runs whenever it is entered. Characters. */
  characters: number;
}

const stepsToBegin = { function: stepsPerCall, loop: stepsPerTurn, branch: 0, field: 0, violation: stepsPerViolation };

/** A block of at most this size is charged together with the block around it. Characters. */
const uncharged: Readonly<Partial<Record<Block['kind'], number>>> = {
  branch: branchCharactersMaximum,
  field: fieldCharactersMaximum,
};

/** A brace that begins no block but an object literal or a parameter list. */
const other = null;

function withCharges(code: string, texts: readonly string[]): string {
  const charges: { readonly at: number; readonly steps: number; readonly isChecked: boolean }[] = [];
  const blocks: (Block | typeof other)[] = [{ kind: 'branch', begin: 0, characters: 0 }];
  const parentheses: string[] = [];
  /** The word before the parentheses that were closed last. */
  let head = '';
  let counted = 0;
  const innermost = (): Block => blocks.findLast((block) => block !== other) as Block;
  const count = (to: number): void => {
    innermost().characters += to - counted;
    counted = to;
  };
  for (const { 0: token, 1: text = '', index: at } of code.matchAll(/"(\d+)"|[(){}]|props/g)) {
    switch (token) {
      case 'props':
        // Objects that note the evaluated fields grow one field at a time.
        innermost().characters += notedFieldCharacters;
        break;
      case '(':
        parentheses.push(wordBefore(code, at));
        break;
      case ')':
        head = parentheses.pop() as string;
        break;
      case '{': {
        count(at + 1);
        const kind = kindOfBlock(code, at, head);
        blocks.push(kind === undefined ? other : { kind, begin: at + 1, characters: 0 });
        break;
      }
      case '}': {
        count(at);
        const block = blocks.pop();
        if (block === undefined || block === other) break;
        if (block.characters <= (uncharged[block.kind] ?? 0)) {
          innermost().characters += block.characters;
        } else {
          charges.push({
            at: block.begin,
            steps: stepsToBegin[block.kind] + Math.ceil(block.characters / charactersPerStep),
            // Code that is neither a function nor a loop comes to an end, and the block around it checks.
            isChecked: block.kind === 'function' || block.kind === 'loop',
          });
        }
        break;
      }
      default:
        // A comparison with a long text may take time in proportion.
        innermost().characters += (texts[Number(text)] as string).length >> 2;
    }
  }
  charges.sort((left, right) => left.at - right.at);
  let position = 0;
  let text = '';
  for (const { at, steps, isChecked } of charges) {
    const charge = isChecked ? `if((meter.steps -= ${steps}) < 0)meter.stop();` : `meter.steps -= ${steps};`;
    text += code.slice(position, at) + charge;
    position = at;
  }
  return text + code.slice(position);
}

const wordCharacter = /\w/;

/** The word right before a position; for a function its name with `function` before it. */
function wordBefore(code: string, at: number): string {
  let begin = at;
  while (wordCharacter.test(code.charAt(begin - 1))) begin -= 1;
  return code.startsWith(functionWord, begin - functionWord.length)
    ? code.slice(begin - functionWord.length, at)
    : code.slice(begin, at);
}

const functionWord = 'function ';

function kindOfBlock(code: string, at: number, head: string): Block['kind'] | undefined {
  const before = code.slice(Math.max(0, at - 20), at).trimEnd();
  const isElse = /(?:^|\W)(?:else|try|finally)$/.test(before);
  if (!isElse && !before.endsWith(')')) return undefined;
  if (/^(?:const err\d+ =|validate\d+\.errors = \[)/.test(code.slice(at + 1, at + 30))) return 'violation';
  if (isElse) return 'branch';
  if (before.endsWith(' !== undefined)')) return 'field';
  if (head.startsWith(functionWord)) return 'function';
  return head === 'for' || head === 'while' ? 'loop' : 'branch';
}
