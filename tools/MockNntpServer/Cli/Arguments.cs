namespace Sluice.Tools.MockNntpServer.Cli;

/// <summary>Command-line flags: <c>--name=value</c>, <c>--name value</c>, or <c>--name</c> alone for a switch.</summary>
internal sealed class Arguments
{
    private readonly List<KeyValuePair<string, string>> _flags = [];

    /// <param name="valued">Names of flags with a value.</param>
    /// <param name="switches">Names of flags without a value; a value after an equals sign is allowed.</param>
    /// <exception cref="FormatException">A flag is unknown or lacks its value.</exception>
    public Arguments(IReadOnlyList<string> args, IReadOnlySet<string> valued, IReadOnlySet<string> switches)
    {
        for (var i = 0; i < args.Count; i++)
        {
            var split = args[i].Split('=', 2);
            var name = split[0].StartsWith("--", StringComparison.Ordinal) ? split[0][2..] : "";
            if (!valued.Contains(name) && !switches.Contains(name))
                throw new FormatException($"\"{args[i]}\" is no flag.");
            if (split.Length == 1 && valued.Contains(name) && ++i == args.Count)
                throw new FormatException($"--{name} has no value.");
            _flags.Add(new(name, split.Length > 1 ? split[1] : valued.Contains(name) ? args[i] : ""));
        }
    }

    public bool Has(string name) => _flags.Exists(flag => flag.Key == name);

    public string? Get(string name) => _flags.FindLast(flag => flag.Key == name).Value;

    /// <summary>Returns all values of a repeatable flag.</summary>
    public IEnumerable<string> All(string name) => _flags.Where(flag => flag.Key == name).Select(flag => flag.Value);
}
