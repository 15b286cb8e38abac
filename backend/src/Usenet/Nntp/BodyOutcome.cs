namespace Sluice.Usenet.Nntp;

/// <summary>How one BODY command ended at one provider.</summary>
/// <param name="MissCode">430, 423 or 451 when the provider does not have the article; 0 when the body is in the sink.</param>
internal readonly record struct BodyOutcome(int MissCode)
{
    public static BodyOutcome Delivered => default;

    public bool IsMiss => MissCode != 0;
}
