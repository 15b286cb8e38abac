namespace Sluice.Tools.FullNzbTester.Report;

/// <summary>Tells the steps while they run; says nothing when it is to be quiet.</summary>
internal sealed class Narrator(TextWriter output, bool quiet)
{
    public void Say(string line)
    {
        if (!quiet)
            output.WriteLine(line);
    }
}
