using BenchmarkDotNet.Configs;
using BenchmarkDotNet.Jobs;
using BenchmarkDotNet.Running;
using BenchmarkDotNet.Toolchains.InProcess.Emit;
using Sluice.Usenet.Benchmarks;

// --quick [seconds]   medians and ratios of interleaved samples, for a machine that others use too
// --cold              what the first articles of a fresh process cost
// --stat              10,000 STAT over 10 connections at a round trip of 50 ms, held to its bar
// --joined [megabits] ten posted files behind one stream against one file, held to their bar
// --limit             a limit of bandwidth out of reach against none
// anything else       BenchmarkDotNet with its own arguments, for example --filter '*Kernel*'
switch (args)
{
    case ["--quick"]:
        return QuickRun.Print(TimeSpan.FromSeconds(45));
    case ["--quick", var seconds] when int.TryParse(seconds, out var number) && number > 0:
        return QuickRun.Print(TimeSpan.FromSeconds(number));
    case ["--stat"]:
        return await StatRun.PrintAsync();
    case ["--joined"]:
        return await JoinedRun.PrintAsync(megabits: 0);
    case ["--joined", var megabits] when int.TryParse(megabits, out var rate) && rate > 0:
        return await JoinedRun.PrintAsync(rate);
    case ["--limit"]:
        await LimitRun.PrintAsync();
        return 0;
    case ["--cold"]:
        return ColdStart.PrintAll();
    case ["--cold", var kernel]:
        return ColdStart.PrintOne(kernel);
    default:
        // In this process: the generated project of the other tool chain looks for a project named like the assembly.
        var config = DefaultConfig.Instance.AddJob(Job.ShortRun.WithToolchain(InProcessEmitToolchain.Instance));
        BenchmarkSwitcher.FromAssembly(typeof(RawBodies).Assembly).Run(args, config);
        return 0;
}
