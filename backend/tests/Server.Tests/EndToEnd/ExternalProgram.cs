using System.ComponentModel;
using System.Diagnostics;
using Xunit;

namespace Sluice.Server.Tests.EndToEnd;

/// <summary>Runs external programs and captures their output.</summary>
internal static class ExternalProgram
{
    /// <summary>Skips the test if one of the programs is not installed.</summary>
    public static void Require(params string[] names)
    {
        foreach (var name in names)
            Assert.SkipUnless(OnPath(name), $"{name} is not installed");
    }

    /// <summary>Runs a program to its end.</summary>
    /// <param name="name">Name in the PATH, or a full path.</param>
    /// <param name="arguments">Arguments, one by one.</param>
    /// <param name="variables">Environment variables added to those of the test run.</param>
    /// <param name="cancel">Kills the program and its children.</param>
    public static async Task<ProgramResult> RunAsync(
        string name, IEnumerable<string> arguments, IReadOnlyDictionary<string, string>? variables, CancellationToken cancel)
    {
        using var process = Start(name, arguments, variables);
        process.StandardInput.Close();
        try
        {
            using var output = new MemoryStream();
            var errors = process.StandardError.ReadToEndAsync(cancel);
            await process.StandardOutput.BaseStream.CopyToAsync(output, cancel);
            await process.WaitForExitAsync(cancel);
            return new ProgramResult(process.ExitCode, output.ToArray(), await errors);
        }
        finally
        {
            if (!process.HasExited)
                process.Kill(entireProcessTree: true);
        }
    }

    /// <summary>Starts a program with all three streams redirected.</summary>
    public static Process Start(string name, IEnumerable<string> arguments, IReadOnlyDictionary<string, string>? variables)
    {
        var start = new ProcessStartInfo(name, arguments)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            UseShellExecute = false,
        };
        foreach (var (key, value) in variables ?? new Dictionary<string, string>())
            start.Environment[key] = value;
        return Process.Start(start) ?? throw new Win32Exception($"{name} did not start.");
    }

    private static bool OnPath(string name) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(Path.PathSeparator)
            .Any(folder => File.Exists(Path.Combine(folder, name)));
}

/// <summary>Exit code and output of a program.</summary>
internal sealed record ProgramResult(int ExitCode, byte[] Output, string Errors)
{
    public string Text => System.Text.Encoding.UTF8.GetString(Output);

    /// <summary>Returns this result; fails the test with the program's own output if the exit code is not 0.</summary>
    public ProgramResult Succeeded()
    {
        Assert.True(ExitCode == 0, $"exit code {ExitCode}: {Errors}");
        return this;
    }
}
