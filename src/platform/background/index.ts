export {
  awaitedLater,
  type BackgroundFailure,
  failureReporter,
  inBackground,
  logBackgroundFailures,
  onBackgroundFailure,
} from './background.ts';
