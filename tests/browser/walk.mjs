// Walks the dashboard as a person does. Usage: walk.mjs CHROMIUM ORIGIN TOKEN VIEWER-TOKEN DIRECTORY PICTURES [CASE...]
// Prints TAP. DIRECTORY/fixed is made when the handler of the dead letters may succeed.
import * as acts from "./acts.mjs";
import { browser, failedPicture } from "./scene.mjs";
import * as shell from "./shell.mjs";
import * as things from "./things.mjs";

const { signIn, everyLink, valuesMove, hiddenPagePauses, timesSwitch, keyboard, viewerSeesOnly, navigationFolds, columnsAreChosen, finderFinds, sessionEnds, weightAndPaint, signsOut } = shell;
const { everyPage, stepsAreTimed, streamSaysWhatBlocks, filtersAndPages, filtersLookThroughAll, doctorLooks, alertFires, auditKnows, hostileText, hostileNames, chartsAreRead, waitingIsNotRed } = things;
const { pauseStream, schedule, pausePerspective, receptors, runGoesOn, cancelJob, redrive, rowsAreSelected, messageIsCancelled, pausesByName, whyIsDone, payloadIsEdited } = acts;
const all = { signIn, weightAndPaint, everyPage, stepsAreTimed, streamSaysWhatBlocks, everyLink, navigationFolds, finderFinds, columnsAreChosen, valuesMove, hiddenPagePauses, chartsAreRead, waitingIsNotRed, timesSwitch,
              filtersAndPages, filtersLookThroughAll, rowsAreSelected, pauseStream, schedule, pausePerspective, receptors, runGoesOn, doctorLooks, alertFires, pausesByName, messageIsCancelled, whyIsDone, payloadIsEdited, cancelJob, redrive, sessionEnds,
              signsOut, auditKnows, hostileText, hostileNames, keyboard, viewerSeesOnly };
const wanted = process.argv.slice(8);
const cases = Object.entries(all).filter(([name]) => wanted.length === 0 || name === "signIn" || wanted.includes(name));
let failed = 0, number = 0;
console.log(`1..${cases.length}`);
for (const [name, run] of cases) {
  let why = "";
  browser.wrong = [];
  try {
    await run();
    why = browser.wrong.join("\n");
  } catch (error) {
    why = [error.stack, ...browser.wrong].join("\n");
    await failedPicture(name);
  }
  failed += why !== "";
  console.log(`${why ? "not ok" : "ok"} ${++number} - ${name}`);
  if (why) console.log(why.split("\n").map((line) => "# " + line).join("\n"));
}
await browser.close();
process.exit(failed > 0 ? 1 : 0);
