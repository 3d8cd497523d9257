/** The web console: serves its files, which are built apart, and signs in who has the one-time code of a link. */
export { consoleRoutes } from './consoleRoutes.ts';
export { SignInCode } from './signInCode.ts';
