// The pages, in the four groups of the navigation; `one` shows a single thing of the page.
import { showAlerts } from "./pages/alerts.js";
import { showAudit } from "./pages/audit.js";
import { showDead } from "./pages/dead.js";
import { showDoctor } from "./pages/doctor.js";
import { showEvent } from "./pages/one/event.js";
import { showEvents } from "./pages/events.js";
import { showHistory } from "./pages/history.js";
import { showInstance } from "./pages/one/instance.js";
import { showInstances } from "./pages/instances.js";
import { showJob } from "./pages/one/job.js";
import { showJobs } from "./pages/jobs.js";
import { showMessage } from "./pages/one/message.js";
import { showMessages } from "./pages/messages.js";
import { showOverview } from "./pages/overview.js";
import { showPartitions } from "./pages/partitions.js";
import { showPauses } from "./pages/pauses.js";
import { showPerspective } from "./pages/one/perspective.js";
import { showPerspectives } from "./pages/perspectives.js";
import { showPipelines } from "./pages/pipelines.js";
import { showRun } from "./pages/one/run.js";
import { showRuns } from "./pages/runs.js";
import { showSchedule } from "./pages/one/schedule.js";
import { showSchedules } from "./pages/schedules.js";
import { showStream } from "./pages/one/stream.js";
import { showStreams } from "./pages/streams.js";
import { showTask } from "./pages/one/task.js";
import { showTasks } from "./pages/tasks.js";

export const groups = [
  { title: "Watch", pages: [
    { name: "", title: "Overview", show: showOverview },
    { name: "history", title: "History", show: showHistory },
    { name: "alerts", title: "Alerts", show: showAlerts },
    { name: "doctor", title: "Doctor", show: showDoctor }] },
  { title: "Work", pages: [
    { name: "messages", title: "Messages", show: showMessages, one: { title: "Message", show: showMessage } },
    { name: "streams", title: "Streams", show: showStreams, one: { title: "Stream", show: showStream } },
    { name: "dead", title: "Dead letters", show: showDead },
    { name: "jobs", title: "Jobs", show: showJobs, one: { title: "Job", show: showJob } },
    { name: "runs", title: "Runs", show: showRuns, one: { title: "Run", show: showRun } }] },
  { title: "Plan", pages: [
    { name: "tasks", title: "Tasks", show: showTasks, one: { title: "Task", show: showTask } },
    { name: "pipelines", title: "Pipelines", show: showPipelines },
    { name: "schedules", title: "Schedules", show: showSchedules, one: { title: "Schedule", show: showSchedule } },
    { name: "events", title: "Events", show: showEvents, one: { title: "Event", show: showEvent } },
    { name: "perspectives", title: "Perspectives", show: showPerspectives, one: { title: "Perspective", show: showPerspective } }] },
  { title: "Fleet", pages: [
    { name: "instances", title: "Instances", show: showInstances, one: { title: "Instance", show: showInstance } },
    { name: "partitions", title: "Partitions", show: showPartitions },
    { name: "pauses", title: "Pauses", show: showPauses },
    { name: "audit", title: "Audit", show: showAudit }] },
];

// The page of an address: {page, id}, and the list that a single thing belongs to.
export function pageOf(path) {
  const [name = "", id, more] = path.replace(/^\/ui\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
  const list = groups.flatMap((group) => group.pages).find((one) => one.name === name);
  if (!list || more !== undefined) return {};
  return id === undefined ? { page: list } : list.one ? { page: list.one, list, id } : {};
}
