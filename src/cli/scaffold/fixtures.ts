/** Objects of scaffolded tests. */
import type { PlannedFile } from "./plan.js";

/** A Pod, with the labels given or none. */
export function pod(path: string, comment: string, label?: string): PlannedFile {
  const labels = label === undefined ? "" : `  labels:\n    ${label}\n`;
  const content = `# ${comment}
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: default
${labels}spec:
  containers:
    - name: web
      image: registry.example.com/web:v1
`;
  return { path, content };
}

/** A Deployment with this many replicas. */
export function deployment(path: string, comment: string, replicas: number): PlannedFile {
  const content = `# ${comment}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: default
spec:
  replicas: ${replicas}
  selector:
    matchLabels: { app: web }
  template:
    metadata:
      labels: { app: web }
    spec:
      containers:
        - name: web
          image: registry.example.com/web:v1
`;
  return { path, content };
}

/** Commands that show a new policy at work. */
export const nextCommands = (policies: string, id: string, folder: string, object: string): readonly string[] => [
  `npx policy-server check ${policies}`,
  `npx policy-server test ${folder}`,
  `npx policy-server eval ${id} --object ${folder}/${object}`,
];
