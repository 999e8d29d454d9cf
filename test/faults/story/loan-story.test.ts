import { describe } from 'mocha';
import { startEmbeddedSystem } from '../embedded-system.ts';
import { describeStory, lengthOf, settings } from './chapters.ts';

describe('the story of a loan with ten thousand transactions, on one machine', () => {
  const length = lengthOf({ transactions: 10_000, hasEveryDamage: true });
  describeStory((folder) => startEmbeddedSystem(folder, settings), length);
});
