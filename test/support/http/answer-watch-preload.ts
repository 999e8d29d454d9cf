import { watchAnswers } from './answer-watch.ts';

/** Loaded before everything else into the processes that tests start. */
watchAnswers();
