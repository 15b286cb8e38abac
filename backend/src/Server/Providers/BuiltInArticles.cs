using Sluice.Usenet.Nntp;

namespace Sluice.Server.Providers;

/// <summary>What answers while no provider is configured.</summary>
internal sealed record BuiltInArticles(IArticleSource Source);
