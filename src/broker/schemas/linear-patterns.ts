import { RE2JS } from 're2js';
import { BoundedMap } from '../../bounded-map.ts';
import { LendstreamError } from '../../errors.ts';
import { meter } from './validation-meter.ts';

/**
 * Regular expressions in linear time. JavaScript's own backtrack and may take exponential time. The work of these is
 * charged to the budget of the request during a match, since a single match may use up all of it.
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
 * The cost of matching, in steps of the budget: to begin, for a character on a known path, for an instruction off it.
 */
const stepsPerMatch = 500;
const stepsPerCharacter = 20;
const stepsPerInstruction = 100;

/** A pattern is compiled several times: when its schema is checked, and by each validator of that schema. */
const cachedPatternsMaximum = 50;

/** The least recently used go first. */
const patterns = new BoundedMap<string, LinearPattern>(cachedPatternsMaximum);

/**
 * Compiles a pattern, or returns a recent result for the same text.
 * @throws UNPROCESSABLE when the pattern is too large, and what the parser throws when it is no regular expression.
 */
export function linearPattern(text: string): LinearPattern {
  const known = patterns.get(text);
  if (known !== undefined) return known;
  const pattern = compilePattern(text);
  patterns.set(text, pattern);
  return pattern;
}

/** A pattern that is known to be valid, and is compiled when it is first tried: that may take some milliseconds. */
export function patternOnDemand(text: string): LinearPattern {
  let pattern: LinearPattern | undefined;
  return { test: (tried) => (pattern ??= linearPattern(text)).test(tried), toString: () => text };
}

/**
 * The part of an engine program that is used here. The engine fetches an instruction for each step off a known path.
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
  // The last resort follows all paths at once and reads instructions without getInst.
  engine.doExecuteNFA = (input, position, ...others) => {
    meter.spend((Number(input.endPos()) + 1) * size * stepsPerInstruction);
    return runAutomaton(input, position, ...others);
  };
  return {
    test: (text) => {
      meter.spend(stepsPerMatch + text.length * stepsPerCharacter);
      return compiled.test(text);
    },
    // Ajv identifies a matcher by this text: two patterns with the same text would be one.
    toString: () => pattern,
  };
}
