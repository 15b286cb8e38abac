namespace Sluice.Tools.MockNntpServer.Wire;

/// <summary>A command line as it arrived.</summary>
/// <param name="Verb">In capitals; AUTHINFO with its USER or PASS.</param>
/// <param name="Argument">What follows, trimmed; empty when there is nothing.</param>
/// <param name="Arrived">Time stamp of its last byte.</param>
/// <param name="Number">Command of the connection, from 1.</param>
/// <param name="Try">For BODY and ARTICLE how often the article was asked for at the provider, this time included; for others one more than that, and for DATE and QUIT the number of the command.</param>
/// <param name="Waiting">Commands of the connection that waited when it arrived, itself included.</param>
internal sealed record Command(string Verb, string Argument, long Arrived, int Number, int Try, int Waiting)
{
    /// <summary>The message-id that is asked for, without brackets; null when the argument is none.</summary>
    public string? MessageId => MessageIdOf(Argument);

    /// <summary>Splits a line into verb and argument.</summary>
    public static (string Verb, string Argument) Split(string line)
    {
        var words = line.Split(' ', 2, StringSplitOptions.TrimEntries | StringSplitOptions.RemoveEmptyEntries);
        if (words.Length == 0)
            return ("", "");
        var verb = words[0].ToUpperInvariant();
        var argument = words.Length > 1 ? words[1] : "";
        if (verb is not "AUTHINFO")
            return (verb, argument);

        var kind = argument.Split(' ', 2, StringSplitOptions.TrimEntries);
        return ($"AUTHINFO {kind[0].ToUpperInvariant()}", kind.Length > 1 ? kind[1] : "");
    }

    /// <summary>The id between angle brackets, or null.</summary>
    public static string? MessageIdOf(string argument) =>
        argument.Length > 2 && argument[0] == '<' && argument[^1] == '>' ? argument[1..^1] : null;
}
