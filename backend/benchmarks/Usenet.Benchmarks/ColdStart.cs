using System.Diagnostics;
using System.Globalization;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>What the first articles of a fresh process cost to decode: no one after the first may take twice the steady time.</summary>
internal static class ColdStart
{
    private const int First = 10;
    private const int Processes = 3;

    /// <summary>Each kernel in a fresh process of its own, some times over: the best run of each is the one that nobody disturbed.</summary>
    /// <returns>0 when each kernel has a run that keeps the bar.</returns>
    public static int PrintAll()
    {
        var failed = 0;
        foreach (var kernel in YencKernel.Supported)
        {
            var passed = false;
            for (var i = 0; i < Processes; i++)
                passed |= RunFresh(kernel.Name) == 0;
            failed += passed ? 0 : 1;
        }

        return failed;
    }

    /// <summary>Decodes articles with one kernel; the first call into the engine's decoder is the first that is timed.</summary>
    /// <param name="kernel">Its name.</param>
    /// <returns>0 when no article after the first took more than twice the steady time.</returns>
    public static int PrintOne(string kernel)
    {
        var articles = RawBodies.Noise(First);
        var output = new FixedWriter(1024 * 1024);
        var seconds = new List<double>();
        Time(articles[0].AsSpan(0, 0), null, output);

        var forced = YencKernel.Supported.SingleOrDefault(candidate => candidate.Name == kernel)
            ?? throw new ArgumentException($"No kernel '{kernel}' on this CPU.", nameof(kernel));
        var decoder = new YencDecoder(forced);
        for (var i = 0; i < 300; i++)
            seconds.Add(Time(articles[i % First], decoder, output));

        var steady = seconds.Skip(100).Order().ElementAt(100);
        var worst = seconds.Skip(1).Take(First - 1).Max();
        Console.WriteLine(string.Create(
            CultureInfo.InvariantCulture,
            $"{kernel,-14} first {seconds[0] * 1e6,8:F0} us, worst of the next nine {worst * 1e6,6:F0} us, steady {steady * 1e6,6:F0} us, ratio {worst / steady:F2}"));
        return worst <= 2 * steady ? 0 : 1;
    }

    /// <summary>Seconds for one article, header line included; null decodes nothing and warms the clock.</summary>
    private static double Time(ReadOnlySpan<byte> body, YencDecoder? decoder, FixedWriter output)
    {
        var before = ThreadClock.Now();
        if (decoder is not null)
        {
            output.Clear();
            decoder.Reset();
            decoder.Decode("=ybegin part=1 line=128 size=716800 name=a\r\n=ypart begin=1 end=716800\r\n"u8, output, out _);
            decoder.Decode(body, output, out _);
            if (!decoder.Decode("=yend size=716800\r\n.\r\n"u8, output, out _) || decoder.GetResult().Defects != YencDefects.None)
                throw new InvalidOperationException("The article did not decode.");
        }

        return ThreadClock.Now() - before;
    }

    private static int RunFresh(string kernel)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!);
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet")
            start.ArgumentList.Add(typeof(ColdStart).Assembly.Location);
        start.ArgumentList.Add("--cold");
        start.ArgumentList.Add(kernel);
        using var process = Process.Start(start) ?? throw new InvalidOperationException("No process.");
        process.WaitForExit();
        return process.ExitCode;
    }
}
