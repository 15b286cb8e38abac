using System.CommandLine;

namespace Sluice.Tools.FullNzbTester.Cli;

/// <summary>The command line: parses flags and returns the exit code.</summary>
internal static class CommandLine
{
    /// <param name="isTerminal">Whether the output is a terminal that shows colors.</param>
    public static async Task<int> RunAsync(IReadOnlyList<string> args, TextWriter output, TextWriter error, bool isTerminal, CancellationToken interrupted)
    {
        try
        {
            var flags = new TesterFlags();
            var command = flags.Command();
            command.SetAction((line, token) => new Tester(new OptionsReader(flags, line).Read(args), output, error, isTerminal).RunAsync(token));

            var line = command.Parse(args);
            if (line.Errors.Count > 0)
                throw new UsageException(line.Errors[0].Message);
            var streams = new InvocationConfiguration { Output = output, Error = error, EnableDefaultExceptionHandler = false, ProcessTerminationTimeout = null };
            return await line.InvokeAsync(streams, interrupted);
        }
        catch (UsageException usage)
        {
            await error.WriteLineAsync($"{usage.Message}\nFullNzbTester [<file.nzb>] [flags]; --help lists the flags.");
            return ExitCode.Usage;
        }
    }
}
