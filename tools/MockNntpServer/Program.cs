using System.Net;
using System.Net.Sockets;
using System.Runtime.InteropServices;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Cli;

const int usageError = 2;

CommandLine line;
try
{
    line = new CommandLine(args);
}
catch (Exception e) when (e is FormatException or IOException or UnauthorizedAccessException)
{
    await Console.Error.WriteLineAsync($"{e.Message}\n\n{CommandLine.Usage}");
    return usageError;
}

if (line.WantsHelp)
{
    Console.WriteLine(CommandLine.Usage);
    return 0;
}

var ended = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
using var stopping = new CancellationTokenSource();
using var interrupt = PosixSignalRegistration.Create(PosixSignal.SIGINT, End);
using var terminate = PosixSignalRegistration.Create(PosixSignal.SIGTERM, End);

try
{
    if (line.NzbFile is { } nzb)
    {
        await using var output = File.Create(nzb);
        line.Release!.WriteNzb(output);
    }

    await using var mock = await MockServer.StartAsync(line.Options);
    if (line.Preloads)
        await mock.PreloadAsync(line.Release!, stopping.Token);

    using var authority = mock.AuthorityPem is { } pem ? AuthorityFile.Write(pem, line.AuthorityFile) : null;
    var providers = mock.Ports.Select(port => new IPEndPoint(line.Options.Bind, port)).ToList();
    await Console.Error.WriteLineAsync(new ReadyLine(providers, new IPEndPoint(IPAddress.Loopback, mock.ControlPort!.Value), authority?.Path).ToString());

    // A parent process that crashes closes the pipe, so the mock exits with it.
    if (line.ExitsWithStdin)
        await Task.WhenAny(ended.Task, Console.OpenStandardInput().CopyToAsync(Stream.Null, stopping.Token));
    else
        await ended.Task;
    return 0;
}
catch (OperationCanceledException) when (stopping.IsCancellationRequested)
{
    return 0;
}
catch (Exception e) when (e is IOException or SocketException or UnauthorizedAccessException or ArgumentException)
{
    await Console.Error.WriteLineAsync(e.Message);
    return 1;
}

void End(PosixSignalContext signal)
{
    signal.Cancel = true;
    stopping.Cancel();
    ended.TrySetResult();
}
