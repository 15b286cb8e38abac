using System.Text.Json;
using Sluice.Tools.FullNzbTester.Cli;
using Xunit;

namespace Sluice.Usenet.Tests.Tester;

/// <summary>One run of FullNzbTester in this process; its mock is a child process, as in normal use.</summary>
internal sealed class TesterCall
{
    /// <summary>A release of 40 articles over a line without delay, so that a run takes a second.</summary>
    public static readonly string[] SmallRelease =
        ["--mock-server", "--size=2", "--article-size=52429", "--latency=0", "--jitter=0", "--connections=4", "--limit=2", "--no-ceiling"];

    private TesterCall(int exit, string output, string error)
    {
        Exit = exit;
        Output = output;
        Error = error;
    }

    public int Exit { get; }

    public string Output { get; }

    public string Error { get; }

    /// <summary>Lines of the summary, which is printed last.</summary>
    public IReadOnlyList<string> Summary
    {
        get
        {
            var lines = Output.TrimEnd('\n').Split('\n');
            return lines[Array.FindLastIndex(lines, line => line.StartsWith("== Sluice FullNzbTester", StringComparison.Ordinal))..];
        }
    }

    /// <summary>Runs with <see cref="SmallRelease"/>; the given flags override its flags.</summary>
    public static Task<TesterCall> SmallAsync(params string[] more) => RunAsync(
        [.. SmallRelease.Where(flag => !more.Any(other => other.Split('=')[0] == flag.Split('=')[0])), .. more],
        TestContext.Current.CancellationToken);

    public static async Task<TesterCall> RunAsync(string[] args, CancellationToken interrupted)
    {
        using var output = new StringWriter { NewLine = "\n" };
        using var error = new StringWriter { NewLine = "\n" };
        var exit = await CommandLine.RunAsync(args, output, error, isTerminal: false, interrupted);
        return new TesterCall(exit, output.ToString(), error.ToString());
    }

    /// <summary>Parses the output of <c>--json=-</c>, which is nothing but JSON.</summary>
    public JsonElement Json() => JsonDocument.Parse(Output).RootElement;

    public void AssertExit(int expected) => Assert.True(Exit == expected, $"exit {Exit} instead of {expected}\n{Output}\n{Error}");
}
