using System.Diagnostics;
using System.Globalization;
using System.Runtime.InteropServices;
using Sluice.Usenet.Yenc;

namespace Sluice.Usenet.Benchmarks;

/// <summary>All kernels against memcpy and the byte machine, sample by sample in turn, so that a busy machine slows them alike.</summary>
internal static class QuickRun
{
    private const int KiB64 = 64 * 1024;
    private const int Datagram = 1_440;

    private static readonly string[] Hostile = ["=", "\r\n..", "\r\n=x", "=\r", "\r\n"];

    /// <summary>Samples for as long as it is given, then prints a table per case.</summary>
    /// <param name="duration">Wall-clock time.</param>
    public static int Print(TimeSpan duration)
    {
        List<Sample> samples = [.. Kernels(), .. Checksums()];
        foreach (var sample in samples)
            sample.Warm();

        var rounds = 0;
        for (var clock = Stopwatch.StartNew(); clock.Elapsed < duration || rounds < 5; rounds++)
        {
            foreach (var sample in samples)
                sample.Take();
        }

        Print($"{RuntimeInformation.FrameworkDescription}, {RuntimeInformation.ProcessArchitecture}, {rounds} samples each, medians, CPU time of the thread");
        foreach (var table in samples.GroupBy(sample => sample.Table))
            PrintTable(table.Key, [.. table]);
        return 0;
    }

    private static void PrintTable(string table, List<Sample> rows)
    {
        var copy = rows.Find(row => row.Name == "memcpy")?.Rate;
        var bytes = rows.Find(row => row.Name == "bytes")?.Rate;
        Print($"\n{table,-34} 10^9/s{(copy is null ? "" : "   x memcpy   x bytes")}");
        foreach (var row in rows)
            Print($"  {row.Name,-30} {row.Rate / 1e9,7:F3}   {row.Rate / copy,8:F2}   {row.Rate / bytes,7:F1}");
    }

    private static void Print(FormattableString line) => Console.WriteLine(line.ToString(CultureInfo.InvariantCulture));

    private static IEnumerable<Sample> Kernels()
    {
        var articles = RawBodies.Noise(8);
        byte[][] escaped = [RawBodies.EverythingEscaped()];
        return
        [
            .. Table("one article, hot", [.. Enumerable.Repeat(articles[0], articles.Length)], (trial, bodies) => trial.Decode(bodies, int.MaxValue)),
            .. Table("8 articles in turn", articles, (trial, bodies) => trial.Decode(bodies, int.MaxValue)),
            .. Table("64 KiB calls", articles, (trial, bodies) => trial.Decode(bodies, KiB64)),
            .. Table("1,440 B calls", articles, (trial, bodies) => trial.Decode(bodies, Datagram)),
            .. Table("decode + CRC per 64 KiB", articles, (trial, bodies) => trial.DecodeAndSum(bodies, KiB64)),
            .. Table("decode + CRC per 16 KiB", articles, (trial, bodies) => trial.DecodeAndSum(bodies, KiB64 / 4)),
            .. Table("everything escaped", escaped, (trial, bodies) => trial.Decode(bodies, int.MaxValue)),
            .. Hostile.SelectMany(pattern => Table(
                $"hostile: {pattern.Replace("\r", "CR", StringComparison.Ordinal).Replace("\n", "LF", StringComparison.Ordinal)}",
                [RawBodies.Repeated(pattern)],
                (trial, bodies) => trial.Decode(bodies, int.MaxValue))),
        ];
    }

    /// <summary>One case: memcpy, then each kernel.</summary>
    private static IEnumerable<Sample> Table(string table, byte[][] bodies, Action<KernelTrial, byte[][]> run)
    {
        var length = bodies.Sum(body => body.Length);
        var ruler = new KernelTrial(YencKernel.Best);
        void Copy() => ruler.Copy(bodies);
        yield return new Sample(table, "memcpy", length, Copy, Copy);
        foreach (var kernel in YencKernel.Supported)
        {
            var trial = new KernelTrial(kernel);
            yield return new Sample(table, kernel.Name, length, Copy, () => run(trial, bodies));
        }
    }

    private static IEnumerable<Sample> Checksums()
    {
        // As many repetitions as make a sample longer than a look at the clock.
        foreach (var (length, repeat) in new[] { (RawBodies.PartLength, 2), (KiB64, 16), (KiB64 / 4, 64) })
        {
            var data = new byte[length];
            foreach (var (name, update) in ChecksumForms.Supported)
            {
                void Once() => update(uint.MaxValue, data);
                yield return new Sample(Invariant($"CRC of {length:N0} B, hot"), name, (double)length * repeat, Once, () =>
                {
                    for (var i = 0; i < repeat; i++)
                        Once();
                });
            }
        }

        yield return Joins("parts of one length", (crc, _) => Crc32Kernel.Combine(crc, 2, RawBodies.PartLength));
        yield return Joins("parts of any length", (crc, i) => Crc32Kernel.Combine(crc, 2, RawBodies.PartLength + i));
        yield return Joins("parts of terabytes", (crc, i) => Crc32Kernel.Combine(crc, 2, (i + 1) * 0x12_3456_7891));
    }

    /// <summary>Joins that wait for each other.</summary>
    private static Sample Joins(string name, Func<uint, long, uint> join)
    {
        const int Count = 10_000;
        void Run()
        {
            var crc = 1u;
            for (var i = 0L; i < Count; i++)
                crc = join(crc, i);
        }

        return new Sample("CRC joined (10^9 joins a second)", name, Count, Run, Run);
    }

    private static string Invariant(FormattableString text) => text.ToString(CultureInfo.InvariantCulture);
}
