using System.Diagnostics;
using System.Globalization;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>What the first articles of a fresh process cost to decode: no one after the first may take twice the steady time.</summary>
internal static class ColdStart
{
    private const int First = 10;
    private const int Processes = 5;

    /// <summary>
    /// Each kernel in fresh processes. An article costs what it costs at its place in the process that was disturbed least
    /// there: what the runtime has to do for it, it has to do in every process.
    /// </summary>
    /// <returns>How many kernels miss the bar.</returns>
    public static int PrintAll()
    {
        var missed = 0;
        foreach (var kernel in YencKernel.Supported)
        {
            var runs = Enumerable.Range(0, Processes).Select(_ => RunFresh(kernel.Name)).ToArray();
            var steady = runs.Min(run => run[0]);
            double[] places = [.. Enumerable.Range(1, First).Select(place => runs.Min(run => run[place]))];
            var worst = places.Skip(1).Max();
            missed += worst <= 2 * steady ? 0 : 1;
            Console.WriteLine(string.Create(
                CultureInfo.InvariantCulture,
                $"{kernel.Name,-14} first {places[0] / 1e3:F1} ms, worst of the next nine {worst:F0} us, steady {steady:F0} us, ratio {worst / steady:F2}"));
        }

        return missed;
    }

    /// <summary>Prints microseconds: the steady time of an article, then those of the first articles, whose first one is the first call into the decoder.</summary>
    /// <param name="kernel">The kernel's name.</param>
    public static int PrintOne(string kernel)
    {
        var articles = RawBodies.Noise(First);
        var output = new FixedWriter(1024 * 1024);
        Time([], null, output);

        var forced = YencKernel.Supported.SingleOrDefault(candidate => candidate.Name == kernel)
            ?? throw new ArgumentException($"No kernel '{kernel}' on this CPU.", nameof(kernel));
        var decoder = new ArticleDecoder(forced);
        double[] times = [.. Enumerable.Range(0, 300).Select(i => Time(articles[i % First], decoder, output) * 1e6)];
        var steady = times.Skip(100).Order().ElementAt(100);
        Console.WriteLine(string.Join(' ', times.Take(First).Prepend(steady).Select(time => time.ToString("F1", CultureInfo.InvariantCulture))));
        return 0;
    }

    /// <summary>Seconds for one article with its header and trailer; null decodes nothing and warms the clock.</summary>
    private static double Time(ReadOnlySpan<byte> body, ArticleDecoder? decoder, FixedWriter output)
    {
        // Bytes from a socket have just been written: they are near.
        body.CopyTo(output.All);
        output.Clear();
        var before = ThreadClock.Now();
        if (decoder is not null)
        {
            decoder.Reset();
            decoder.Decode("=ybegin part=1 line=128 size=716800 name=a\r\n=ypart begin=1 end=716800\r\n"u8, output, out _);
            decoder.Decode(body, output, out _);
            if (!decoder.Decode("=yend size=716800\r\n.\r\n"u8, output, out _) || decoder.GetResult().Defects != ArticleDefects.None)
                throw new InvalidOperationException("The article did not decode.");
        }

        return ThreadClock.Now() - before;
    }

    private static double[] RunFresh(string kernel)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!) { RedirectStandardOutput = true };
        if (Path.GetFileNameWithoutExtension(Environment.ProcessPath) == "dotnet")
            start.ArgumentList.Add(typeof(ColdStart).Assembly.Location);
        start.ArgumentList.Add("--cold");
        start.ArgumentList.Add(kernel);
        using var process = Process.Start(start) ?? throw new InvalidOperationException("No process.");
        var line = process.StandardOutput.ReadToEnd();
        process.WaitForExit();
        return process.ExitCode == 0
            ? [.. line.Split(' ').Select(time => double.Parse(time, CultureInfo.InvariantCulture))]
            : throw new InvalidOperationException($"The process for '{kernel}' ended with {process.ExitCode}.");
    }
}
