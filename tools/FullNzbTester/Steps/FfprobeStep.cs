using System.ComponentModel;
using System.Diagnostics;
using System.Text.Json;
using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Sessions;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>Step 5: pipes the picked file through a fresh stream into ffprobe.</summary>
internal sealed class FfprobeStep(RunContext run)
{
    /// <returns>Why the step was skipped, or null.</returns>
    public async Task<string?> RunAsync(CancellationToken cancellationToken)
    {
        if (run.Release.IsCompared && !run.Release.IsMedia)
            return "synthetic content is no film";

        var start = new ProcessStartInfo("ffprobe") { RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true, UseShellExecute = false };
        foreach (var argument in new[] { "-v", "error", "-show_entries", "format=format_name,duration:stream=codec_type,codec_name", "-of", "json", "-i", "pipe:0" })
            start.ArgumentList.Add(argument);
        Process process;
        try
        {
            process = Process.Start(start)!;
        }
        catch (Win32Exception)
        {
            return "ffprobe is not installed";
        }

        using (process)
        {
            try
            {
                await ProbeAsync(process, cancellationToken);
            }
            finally
            {
                if (!process.HasExited)
                    process.Kill();
            }
        }

        return null;
    }

    private async Task ProbeAsync(Process process, CancellationToken cancellationToken)
    {
        var output = process.StandardOutput.ReadToEndAsync(cancellationToken);
        var errors = process.StandardError.ReadToEndAsync(cancellationToken);
        await FeedAsync(process, cancellationToken);
        await process.WaitForExitAsync(cancellationToken);
        run.Narrator.Say($"    {Describe(await output) ?? $"ffprobe says: {FirstLine(await errors)}"}");
    }

    private async Task FeedAsync(Process process, CancellationToken cancellationToken)
    {
        await using var session = await run.OpenSessionAsync(SessionUse.Seeks, cancellationToken);
        await using var reader = run.Open(session, ReleaseImport.Pick(session.Files), position: 0);
        var buffer = new byte[64 << 10];
        while (await ReadAsync(reader, buffer, cancellationToken) is > 0 and var read)
        {
            try
            {
                await process.StandardInput.BaseStream.WriteAsync(buffer.AsMemory(0, read), cancellationToken);
            }
            catch (IOException)
            {
                // ffprobe has read enough and closed its input.
                return;
            }
        }

        process.StandardInput.Close();
    }

    private async Task<int> ReadAsync(CheckedReader reader, byte[] buffer, CancellationToken cancellationToken)
    {
        try
        {
            var read = await reader.ReadAsync(buffer, cancellationToken);
            reader.Took(buffer.AsSpan(0, read));
            return read;
        }
        catch (IOException error)
        {
            await reader.AbortAsync(error, run.MayMeetHoles, cancellationToken);
            return 0;
        }
    }

    private static string? Describe(string output)
    {
        using var json = JsonDocument.Parse(output.Length == 0 ? "{}" : output);
        if (!json.RootElement.TryGetProperty("format", out var format) || !json.RootElement.TryGetProperty("streams", out var streams))
            return null;
        var tracks = streams.EnumerateArray().Select(track => $"{track.GetProperty("codec_type").GetString()} {(track.TryGetProperty("codec_name", out var name) ? name.GetString() : "?")}");
        var duration = format.TryGetProperty("duration", out var seconds) ? $", {seconds.GetString()} s" : "";
        return $"{format.GetProperty("format_name").GetString()}{duration}: {string.Join(", ", tracks)}";
    }

    private static string FirstLine(string text) => text.Split('\n', 2)[0].Trim() is { Length: > 0 } line ? line : "nothing";
}
