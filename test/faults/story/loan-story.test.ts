import { describe } from 'mocha';
import { startEmbeddedSystem } from '../embedded-system.ts';
import { describeStory, lengthOf, settings } from './chapters.ts';

describe('the story of a loan with twelve hundred transactions, on one machine', () => {
  // More than a page of every list. The campaign tells it with ten thousand, on both backends.
  const length = lengthOf({ transactions: 1_200, hasEveryDamage: true });
  describeStory((folder) => startEmbeddedSystem(folder, settings), length);
});
