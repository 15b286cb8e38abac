namespace Sluice.Usenet.Probing;

/// <summary>The names in one folder: each is cleaned as it comes, and equal ones get <c> (2)</c>, <c> (3)</c> and so on.</summary>
/// <remarks>Not thread-safe. Names that differ in case only are equal where Windows has to tell them apart.</remarks>
public sealed class NameSet(bool windowsSafe)
{
    private readonly HashSet<string> _taken = new(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);

    // The number to try next per name, so that thousands of equal names do not count from 2 each.
    private readonly Dictionary<string, int> _next = new(windowsSafe ? StringComparer.OrdinalIgnoreCase : StringComparer.Ordinal);

    /// <summary>Takes a name.</summary>
    /// <param name="name">Anything; it is cleaned by <see cref="NameCleaner"/>.</param>
    /// <returns>The name that it gets: clean and not taken before.</returns>
    public string Add(string name)
    {
        var plain = NameCleaner.Clean(name, windowsSafe);
        if (_taken.Add(plain))
            return plain;

        for (var number = _next.GetValueOrDefault(plain, 2); ; number++)
        {
            var numbered = NameCleaner.Clean(plain, windowsSafe, $" ({number})");
            if (!_taken.Add(numbered))
                continue;
            _next[plain] = number + 1;
            return numbered;
        }
    }
}
