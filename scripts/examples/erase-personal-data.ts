/** Erases the personal data of a loan, and prints what became of the command. docs/personal-data.md explains it. */
import { Lendstream } from 'lendstream/client';

const lendstream = new Lendstream({ url: process.env['LENDSTREAM_URL'] ?? 'http://127.0.0.1:8080' });
const { status } = await lendstream.commands.run({ type: 'ERASE_PERSONAL_DATA', loanAccountId: 'loan-1', payload: {} });
console.log(`ERASE_PERSONAL_DATA: ${status}`);
