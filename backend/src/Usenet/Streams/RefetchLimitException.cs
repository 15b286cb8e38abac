namespace Sluice.Usenet.Streams;

/// <summary>A damaged file has been fetched so often today that the providers are not asked for more of it for now.</summary>
public sealed class RefetchLimitException : IOException
{
    /// <summary>Creates the exception.</summary>
    public RefetchLimitException()
        : base("A damaged file has been fetched three times over today; it is not fetched again before tomorrow.")
    {
    }
}
