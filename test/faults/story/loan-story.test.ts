import { describe } from 'mocha';
import { startEmbeddedSystem } from '../embedded-system.ts';
import { describeStory, settings, transactionsOf } from './chapters.ts';

describe('the story of a loan with ten thousand transactions, on one machine', () => {
  describeStory((folder) => startEmbeddedSystem(folder, settings), transactionsOf(10_000));
});
