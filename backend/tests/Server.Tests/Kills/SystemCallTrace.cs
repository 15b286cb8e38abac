using System.Diagnostics;
using System.Globalization;
using System.Text.RegularExpressions;
using Sluice.Server.Tests.EndToEnd;
using Xunit;

namespace Sluice.Server.Tests.Kills;

/// <summary>strace attached to a running server: records its durable writes in order, or makes its system calls fail.</summary>
internal sealed partial class SystemCallTrace : IAsyncDisposable
{
    private const string Note = "note";

    private static readonly TimeSpan Limit = TimeSpan.FromMinutes(2);
    private static readonly TimeSpan Poll = TimeSpan.FromMilliseconds(20);

    private readonly Process _strace;
    private readonly string _output;
    private readonly Task _errors;

    private SystemCallTrace(Process strace, string output)
    {
        (_strace, _output) = (strace, output);
        _errors = strace.StandardError.ReadToEndAsync();
    }

    /// <summary>Traces syncs, renames, removals and sends.</summary>
    public static Task<SystemCallTrace> WatchAsync(int process, string output, CancellationToken cancel) =>
        AttachAsync(process, output, ["-e", "trace=fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,sendto,sendmsg,write,writev"], cancel);

    /// <summary>Makes one or more system calls fail on one file or folder until disposed.</summary>
    public static Task<SystemCallTrace> FailAsync(int process, string output, string path, string call, string error, CancellationToken cancel) =>
        FailAsync(process, output, [path], call, error, cancel);

    /// <summary>Makes one or more system calls fail on each of several files or folders until disposed. The paths need not exist yet.</summary>
    public static Task<SystemCallTrace> FailAsync(int process, string output, IEnumerable<string> paths, string call, string error, CancellationToken cancel) =>
        AttachAsync(process, output, Failing(paths, call, error), cancel);

    /// <summary>Returns the arguments with which strace starts a program whose system calls fail on one file. Its exit code is that of the program.</summary>
    public static string[] Launching(string program, string output, string path, string call, string error)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "needs the system calls of Linux");
        ExternalProgram.Require("strace");
        return ["-f", "-y", "-s", "0", "-e", "signal=none", "-o", output, .. Failing([path], call, error), program];
    }

    /// <summary>
    /// Waits for the call that acknowledges: <c>send</c> to a client, or <c>remove</c> of the only other copy of an NZB. Returns the durable
    /// writes before it, in order, such as <c>sync tmp</c>, <c>rename tmp nzb</c>, <c>sync sluice.db-wal</c>, <c>send</c>.
    /// </summary>
    public async Task<IReadOnlyList<string>> UntilAsync(string acknowledged, CancellationToken cancel)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(cancel);
        limit.CancelAfter(Limit);
        while (true)
        {
            var calls = Read(await File.ReadAllLinesAsync(_output, cancel));
            if (calls.IndexOf(acknowledged) is >= 0 and var sent)
                return calls[..(sent + 1)];
            Assert.False(limit.IsCancellationRequested, $"There was no {acknowledged} after: {string.Join(", ", calls)}");
            await Task.Delay(Poll, TimeProvider.System, cancel);
        }
    }

    public async ValueTask DisposeAsync()
    {
        // SIGTERM makes strace detach from the server.
        using (var kill = Process.Start("kill", ["-TERM", _strace.Id.ToString(CultureInfo.InvariantCulture)]))
            await kill.WaitForExitAsync();
        await _strace.WaitForExitAsync();
        await _errors;
        _strace.Dispose();
    }

    /// <summary>
    /// Returns the calls of a trace in the order in which they ended, except those for the generation file next to the blobs, which the server
    /// writes every ten seconds in the background and which acknowledges nothing.
    /// </summary>
    internal static List<string> Read(IEnumerable<string> lines)
    {
        var begun = new Dictionary<string, string>();
        var calls = new List<string>();
        var openNotes = 0;
        foreach (var line in lines)
        {
            if (Begun().Match(line) is { Success: true } half)
            {
                begun[half.Groups["thread"].Value] = half.Groups["call"].Value;
                continue;
            }

            if (Resumed().Match(line) is { Success: true } rest && begun.Remove(rest.Groups["thread"].Value, out var start))
                Add(start);
            else if (Whole().Match(line) is { Success: true } whole)
                Add(whole.Groups["call"].Value);
        }

        return calls;

        void Add(string call)
        {
            if (Describe(call) is not { } words || words == $"sync {Note}")
                return;
            // The sync of the folder follows the rename of the generation file.
            if (words.StartsWith($"rename {Note} ", StringComparison.Ordinal))
                openNotes++;
            else if (words == "sync data" && openNotes > 0)
                openNotes--;
            else
                calls.Add(words);
        }
    }

    private static IEnumerable<string> Failing(IEnumerable<string> paths, string call, string error) =>
        [.. paths.SelectMany(path => (string[])["-P", path]), "-e", $"trace={call}", "-e", $"inject={call}:error={error}"];

    private static string? Describe(string call)
    {
        var paths = Path().Matches(call).Select(path => Short(path.Groups["path"].Value)).ToList();
        if (call.StartsWith("fsync(", StringComparison.Ordinal) || call.StartsWith("fdatasync(", StringComparison.Ordinal))
            return $"sync {paths[0]}";
        if (call.StartsWith("rename", StringComparison.Ordinal))
            return $"rename {string.Join(' ', paths)}";
        if (call.StartsWith("unlink", StringComparison.Ordinal))
            return paths is [.., var name] && name.EndsWith(".nzb", StringComparison.Ordinal) ? "remove" : null;
        return call.Contains("<socket:", StringComparison.Ordinal) || call.Contains("<TCP", StringComparison.Ordinal) ? "send" : null;
    }

    private static string Short(string path) => path switch
    {
        _ when path.EndsWith("blobs.generation.tmp", StringComparison.Ordinal) => Note,
        _ when path.EndsWith(".tmp", StringComparison.Ordinal) => "tmp",
        _ when path.EndsWith(".nzb.br", StringComparison.Ordinal) => "nzb",
        _ when path.EndsWith(".upload", StringComparison.Ordinal) => "upload",
        _ => path[(path.LastIndexOf('/') + 1)..],
    };

    private static async Task<SystemCallTrace> AttachAsync(int process, string output, IEnumerable<string> arguments, CancellationToken cancel)
    {
        Assert.SkipUnless(OperatingSystem.IsLinux(), "needs the system calls of Linux");
        ExternalProgram.Require("strace");
        var strace = ExternalProgram.Start(
            "strace",
            ["-f", "-y", "-s", "0", "-e", "signal=none", "-o", output, .. arguments, "-p", process.ToString(CultureInfo.InvariantCulture)],
            null);
        strace.StandardInput.Close();
        var said = "";
        while (await strace.StandardError.ReadLineAsync(cancel) is { } line)
        {
            if (line.Contains("attached", StringComparison.Ordinal))
                return new SystemCallTrace(strace, output);
            said += line;
        }

        strace.Dispose();
        Assert.Skip($"strace may not watch other processes here: {said}");
        throw new InvalidOperationException("A skipped test goes on.");
    }

    [GeneratedRegex(@"^(?<thread>\d+)\s+(?<call>\w+\(.*)<unfinished \.\.\.>$")]
    private static partial Regex Begun();

    [GeneratedRegex(@"^(?<thread>\d+)\s+<\.\.\. \w+ resumed>.*=\s+\d+")]
    private static partial Regex Resumed();

    [GeneratedRegex(@"^\d+\s+(?<call>\w+\(.*)=\s+\d+$")]
    private static partial Regex Whole();

    [GeneratedRegex(@"[<""](?<path>/[^"">]*)["">]")]
    private static partial Regex Path();
}
