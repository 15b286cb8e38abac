using System.Runtime.InteropServices;
using Sluice.Tools.FullNzbTester.Cli;

using var interrupted = new CancellationTokenSource();
using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, Stop);
using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, Stop);
return await CommandLine.RunAsync(args, Console.Out, Console.Error, !Console.IsOutputRedirected, interrupted.Token);

void Stop(PosixSignalContext signal)
{
    signal.Cancel = true;
    interrupted.Cancel();
}
