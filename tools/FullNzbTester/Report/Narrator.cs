namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>Tells the steps while they run; says nothing when it is to be quiet.</summary>
internal sealed class Narrator(TextWriter output, bool quiet)
{
    /// <summary>Tells a line, whose figures are written alike in every culture.</summary>
    public void Say(FormattableString line)
    {
        if (!quiet)
            output.WriteLine(FormattableString.Invariant(line));
    }
}
