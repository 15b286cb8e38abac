namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>Prints the progress of the steps, unless quiet.</summary>
internal sealed class Narrator(TextWriter output, bool quiet)
{
    /// <summary>Prints a line with culture-invariant figures.</summary>
    public void Say(FormattableString line)
    {
        if (!quiet)
            output.WriteLine(FormattableString.Invariant(line));
    }
}
