// Runs a job in a worker: the first message names its module, the others ask it to measure.
let measure;
onmessage = async ({ data: { module, params, ms } }) => {
  try {
    if (module) measure = await (await import(module)).default(params);
    postMessage({ result: module ? undefined : await measure(ms) });
  } catch (error) {
    postMessage({ error: String(error?.stack ?? error) });
  }
};
