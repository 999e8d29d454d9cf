import { RE2JS } from 're2js';
import { LendstreamError } from '../../errors.ts';
import { meter } from './validation-meter.ts';

/**
 * Regular expressions in linear time. JavaScript's backtrack and may take exponential time; these do not, and what they
 * do is charged to the budget of the request: in the middle of a match, for one match may be the whole of it.
 */
export interface LinearPattern {
  readonly test: (text: string) => boolean;
  readonly toString: () => string;
}

/**
 * The largest compiled regular expression, in instructions of its automaton. Matching costs at most this per character.
 */
export const patternInstructionsMaximum = 1_000;

/**
 * What matching costs, in the steps of the budget: to begin, for a character on a known way, for an instruction beside
 * it.
 */
const stepsPerMatch = 500;
const stepsPerCharacter = 20;
const stepsPerInstruction = 100;

/** A pattern is met several times: when its schema is checked, and by each validator that is made of it. */
const patternsKeptMaximum = 50;
const patterns = new Map<string, LinearPattern>();

/** @throws UNPROCESSABLE when the pattern is too large, and what the parser throws when it is none */
export function linearPattern(text: string): LinearPattern {
  const known = patterns.get(text);
  if (known !== undefined) return known;
  const pattern = compilePattern(text);
  if (patterns.size >= patternsKeptMaximum) {
    const [oldest] = patterns.keys();
    if (oldest !== undefined) patterns.delete(oldest);
  }
  patterns.set(text, pattern);
  return pattern;
}

/**
 * A program of the engine, as far as it is looked at here: whatever it does beyond a known way, it asks for
 * instructions.
 */
interface Program {
  getInst(index: number): unknown;
}

function compilePattern(pattern: string): LinearPattern {
  const compiled = RE2JS.compile(RE2JS.translateRegExp(pattern));
  const size = compiled.programSize();
  if (size > patternInstructionsMaximum) {
    throw new LendstreamError('UNPROCESSABLE', `Invalid schema: the pattern ${pattern} is too large.`);
  }
  const engine = compiled.re2Input;
  const program: Program = engine.prog;
  const getInstruction = program.getInst.bind(program);
  program.getInst = (index) => {
    meter.spend(stepsPerInstruction);
    return getInstruction(index);
  };
  const runAutomaton = engine.doExecuteNFA.bind(engine);
  // The last resort keeps all ways at once and looks at instructions by itself.
  engine.doExecuteNFA = (input, position, ...others) => {
    meter.spend((Number(input.endPos()) + 1) * size * stepsPerInstruction);
    return runAutomaton(input, position, ...others);
  };
  return {
    test: (text) => {
      meter.spend(stepsPerMatch + text.length * stepsPerCharacter);
      return compiled.test(text);
    },
    // Ajv keeps one matcher for each text of it: two patterns with the same text would be one.
    toString: () => pattern,
  };
}
