import { serveCheck } from '../../src/integrity/check-thread.ts';
import { TableCheck } from '../../src/integrity/table-check.ts';

/** The thread that checks the tables of any file. Of its rows it knows that none has the text `wrong`. */
serveCheck(
  (path) =>
    new TableCheck(path, () => (_, row) => (row['text'] === 'wrong' ? `${row['id']} has a wrong text` : undefined)),
);
