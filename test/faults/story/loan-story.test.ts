import { describe } from 'mocha';
import { startEmbeddedSystem } from '../embedded-system.ts';
import { describeStory, lengthOf, settings } from './chapters.ts';

describe('the story of a loan with a hundred transactions, on one machine', () => {
  // The campaign tells it with ten thousand, which are more than a page of every list, on both backends.
  const length = lengthOf({ transactions: 100, hasEveryEnd: true });
  describeStory((folder) => startEmbeddedSystem(folder, settings), length);
});
