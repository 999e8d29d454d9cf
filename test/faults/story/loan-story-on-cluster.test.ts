import { describeOnCluster } from '../../support/cluster.ts';
import { startClusterSystem } from '../cluster-system.ts';
import { describeStory, settings, transactionsOf } from './chapters.ts';

describeOnCluster('The story of a loan with thousands of transactions, on several processes', () => {
  const printLine = (): void => undefined;
  describeStory((folder) => startClusterSystem({ folder, brokers: 1, printLine, settings }), transactionsOf(2_000));
});
